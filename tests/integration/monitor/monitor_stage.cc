// Serves the sample team at the socket of a state directory, so that a person
// can look at the monitor: `monitor_stage HOME`, until the end of its input.
// Each line of input is another message that arrives.

#include <iostream>
#include <string>

#include "tests/support/fake_inspection.h"
#include "tests/support/sample_team.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  intercom::FakeInspection fake(argv[1]);
  fake.SetDeliveries(intercom::SampleTeam::Deliveries());
  fake.SetSession(intercom::SampleTeam::Reviewer());
  fake.SetMessage(intercom::SampleTeam::Record(
      "d12", "Which endpoint do the tests post to?\nBoth exist."));
  fake.SetOverview(intercom::SampleTeam::Overview());
  int count = 0;
  for (std::string line; std::getline(std::cin, line);) {
    intercom::v1::WatchEventsResponse event;
    *event.mutable_at() = intercom::ToProto(intercom::SampleTeam::Now());
    *event.mutable_delivery()->mutable_delivery() =
        intercom::SampleTeam::Deliveries().deliveries(0);
    event.mutable_delivery()->mutable_delivery()->set_delivery_id(
        "typed-" + std::to_string(++count));
    event.mutable_delivery()->mutable_delivery()->mutable_sender()->set_name(
        line);
    fake.AddEvent(event);
  }
  return 0;
}

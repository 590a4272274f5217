#ifndef PI_INTERCOM_TESTS_UNIT_LINK_FAKE_ATTACHMENT_H_
#define PI_INTERCOM_TESTS_UNIT_LINK_FAKE_ATTACHMENT_H_

#include <deque>
#include <optional>

#include "broker/base/mutex.h"
#include "grpcpp/support/server_callback.h"
#include "intercom/v1/session.pb.h"

namespace intercom {

class FakeBroker;

// One stream at the fake broker's end. Deletes itself.
class FakeAttachment
    : public grpc::ServerBidiReactor<v1::AttachRequest, v1::AttachResponse> {
 public:
  explicit FakeAttachment(FakeBroker& broker);

  void Send(v1::AttachResponse frame) ABSL_LOCKS_EXCLUDED(mu_);
  // Ends the stream when what is queued is written.
  void Close(grpc::Status status) ABSL_LOCKS_EXCLUDED(mu_);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  void Advance() ABSL_LOCKS_EXCLUDED(mu_);

  FakeBroker& broker_;
  v1::AttachRequest incoming_;
  v1::AttachResponse in_flight_;
  Mutex mu_;
  std::deque<v1::AttachResponse> queue_ ABSL_GUARDED_BY(mu_);
  std::optional<grpc::Status> closing_ ABSL_GUARDED_BY(mu_);
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_LINK_FAKE_ATTACHMENT_H_

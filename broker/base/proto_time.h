#ifndef PI_INTERCOM_BROKER_BASE_PROTO_TIME_H_
#define PI_INTERCOM_BROKER_BASE_PROTO_TIME_H_

#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

namespace intercom {

inline google::protobuf::Timestamp ToProto(absl::Time time) {
  const int64_t us = absl::ToUnixMicros(time);
  int64_t seconds = us / 1'000'000;
  int64_t rest = us % 1'000'000;
  if (rest < 0) {
    rest += 1'000'000;
    --seconds;
  }
  google::protobuf::Timestamp timestamp;
  timestamp.set_seconds(seconds);
  timestamp.set_nanos(static_cast<int32_t>(rest * 1000));
  return timestamp;
}

inline absl::Time FromProto(const google::protobuf::Timestamp& timestamp) {
  return absl::FromUnixSeconds(timestamp.seconds()) +
         absl::Nanoseconds(timestamp.nanos());
}

inline google::protobuf::Duration ToProtoDuration(absl::Duration duration) {
  absl::Duration rest;
  google::protobuf::Duration proto;
  proto.set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &rest));
  proto.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
  return proto;
}

inline absl::Duration FromProtoDuration(
    const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) +
         absl::Nanoseconds(duration.nanos());
}

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_BASE_PROTO_TIME_H_

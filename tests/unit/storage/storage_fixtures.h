#ifndef PI_INTERCOM_TESTS_UNIT_STORAGE_STORAGE_FIXTURES_H_
#define PI_INTERCOM_TESTS_UNIT_STORAGE_STORAGE_FIXTURES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "broker/base/random.h"
#include "broker/storage/database.h"
#include "broker/storage/delivery_store.h"
#include "broker/storage/migrator.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace intercom {

inline const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

// Counts instead of surprising.
class CountingRandom : public Random {
 public:
  uint64_t Next() override { return ++count_; }

 private:
  uint64_t count_ = 0;
};

inline std::unique_ptr<Database> MigratedInMemory() {
  std::unique_ptr<Database> db = Database::OpenInMemory().value();
  EXPECT_THAT(Migrate(*db, AllMigrations()), IsOk());
  return db;
}

inline std::unique_ptr<Database> MigratedAt(const std::string& path) {
  std::unique_ptr<Database> db = Database::Open(path).value();
  EXPECT_THAT(Migrate(*db, AllMigrations()), IsOk());
  return db;
}

// A message from "alice" that differs from others by its id alone.
inline NewDelivery MessageTo(const std::string& recipient,
                             const std::string& envelope_id) {
  NewDelivery delivery;
  delivery.envelope.set_envelope_id(envelope_id);
  delivery.envelope.set_kind(v1::ENVELOPE_KIND_MESSAGE);
  delivery.envelope.set_text("text of " + envelope_id);
  delivery.sender.set_session_id("alice");
  delivery.sender.set_name("Alice");
  delivery.sender.set_origin(v1::ORIGIN_SESSION);
  delivery.sender.set_role(v1::ROLE_WORKER);
  delivery.sender.set_workspace_root("/project");
  delivery.recipient_session_id = recipient;
  delivery.recipient_name = "Bob";
  delivery.accepted_at = kNow;
  return delivery;
}

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_STORAGE_STORAGE_FIXTURES_H_

#include "broker/domain/validated_envelope.h"

#include <string>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;

v1::Envelope Message(const std::string& text) {
  v1::Envelope envelope;
  envelope.set_envelope_id("e-1");
  envelope.set_kind(v1::ENVELOPE_KIND_MESSAGE);
  envelope.set_text(text);
  return envelope;
}

std::string Repeated(const std::string& character, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += character;
  return text;
}

absl::Status Refusal(v1::Envelope envelope) {
  return ValidatedEnvelope::FromClient(std::move(envelope)).status();
}

TEST(ValidatedEnvelopeTest, TakesExactly48000Characters) {
  EXPECT_THAT(ValidatedEnvelope::FromClient(Message(Repeated("x", 48'000))),
              IsOk());
  // Characters count, not bytes: these have four each.
  EXPECT_THAT(ValidatedEnvelope::FromClient(Message(Repeated("🛰", 48'000))),
              IsOk());
}

TEST(ValidatedEnvelopeTest, OneCharacterMoreIsRefusedNamingTheLimit) {
  const absl::Status status = Refusal(Message(Repeated("🛰", 48'001)));
  EXPECT_THAT(status,
              FailsWith(absl::StatusCode::kInvalidArgument, "TEXT_TOO_LONG"));
  EXPECT_THAT(MessageOf(status), HasSubstr("48001"));
  EXPECT_THAT(MessageOf(status), HasSubstr("48000"));
}

TEST(ValidatedEnvelopeTest, AnEmptyTextIsRefused) {
  EXPECT_THAT(Refusal(Message("")),
              FailsWith(absl::StatusCode::kInvalidArgument, "TEXT_EMPTY"));
}

class NotUtf8Test : public ::testing::TestWithParam<std::string> {};

TEST_P(NotUtf8Test, IsRefused) {
  v1::Envelope envelope = Message("x");
  *envelope.mutable_text() = GetParam();
  EXPECT_THAT(Refusal(envelope),
              FailsWith(absl::StatusCode::kInvalidArgument, "TEXT_NOT_UTF8"));
}

INSTANTIATE_TEST_SUITE_P(Texts, NotUtf8Test,
                         ::testing::Values("\xff", "cut \xf0\x9f\x9b",
                                           "overlong \xc0\xaf",
                                           "surrogate \xed\xa0\x80",
                                           "beyond \xf4\x90\x80\x80"));

TEST(ValidatedEnvelopeTest, AClientSendsMessagesAsksAndRepliesOnly) {
  for (int kind = 0; kind <= v1::EnvelopeKind_MAX; ++kind) {
    v1::Envelope envelope = Message("x");
    envelope.set_kind(static_cast<v1::EnvelopeKind>(kind));
    const bool allowed = kind == v1::ENVELOPE_KIND_MESSAGE ||
                         kind == v1::ENVELOPE_KIND_ASK ||
                         kind == v1::ENVELOPE_KIND_REPLY;
    EXPECT_EQ(ValidatedEnvelope::FromClient(envelope).ok(), allowed) << kind;
  }
}

TEST(ValidatedEnvelopeTest, TopicsAreForTheBroker) {
  v1::Envelope envelope = Message("x");
  envelope.set_topic("STATUS");
  EXPECT_THAT(Refusal(envelope), FailsWith(absl::StatusCode::kInvalidArgument,
                                           "ENVELOPE_INVALID"));
  envelope.set_kind(v1::ENVELOPE_KIND_NOTICE);
  EXPECT_THAT(ValidatedEnvelope::FromBroker(envelope), IsOk());
  envelope.set_topic(std::string(65, 'T'));
  EXPECT_THAT(
      ValidatedEnvelope::FromBroker(envelope),
      FailsWith(absl::StatusCode::kInvalidArgument, "ENVELOPE_INVALID"));
}

TEST(ValidatedEnvelopeTest, AnIdHas1To64LettersDigitsAndHyphens) {
  EXPECT_THAT(CheckEnvelopeId(std::string(64, 'a')), IsOk());
  EXPECT_THAT(CheckEnvelopeId("A-9"), IsOk());
  for (const std::string& id :
       {std::string(), std::string(65, 'a'), std::string("a/b"),
        std::string("a b"), std::string("ä"), std::string("a\0", 2)}) {
    EXPECT_THAT(
        CheckEnvelopeId(id),
        FailsWith(absl::StatusCode::kInvalidArgument, "ENVELOPE_INVALID"))
        << id;
  }
}

TEST(ValidatedEnvelopeTest, SupersedesAnotherEnvelopeOnly) {
  v1::Envelope envelope = Message("x");
  envelope.set_supersedes("e-0");
  EXPECT_THAT(ValidatedEnvelope::FromClient(envelope), IsOk());
  envelope.set_supersedes("e-1");
  EXPECT_THAT(Refusal(envelope), FailsWith(absl::StatusCode::kInvalidArgument,
                                           "ENVELOPE_INVALID"));
  envelope.set_supersedes("e/0");
  EXPECT_THAT(Refusal(envelope), FailsWith(absl::StatusCode::kInvalidArgument,
                                           "ENVELOPE_INVALID"));
}

TEST(ValidatedEnvelopeTest, ReplyToIsNoLongerThanADeliveryId) {
  v1::Envelope envelope = Message("x");
  envelope.set_reply_to(std::string(330, 'r'));
  EXPECT_THAT(ValidatedEnvelope::FromClient(envelope), IsOk());
  envelope.set_reply_to(std::string(331, 'r'));
  EXPECT_THAT(Refusal(envelope), FailsWith(absl::StatusCode::kInvalidArgument,
                                           "ENVELOPE_INVALID"));
}

}  // namespace
}  // namespace intercom

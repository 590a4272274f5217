#include "worker-agent/bulletins.h"

#include <algorithm>
#include <utility>

#include "broker/base/log.h"
#include "broker/domain/fence.h"

namespace intercom {

Bulletins::Bulletins(Random& random, Notify notify)
    : random_(random), notify_(std::move(notify)) {}

void Bulletins::Listen(const std::string& topic, Shown shown) {
  shown_[topic] = std::move(shown);
}

void Bulletins::Say(const std::string& topic, Bulletin bulletin) {
  if (const auto found = said_.find(topic);
      found != said_.end() && found->second.bulletin.ids == bulletin.ids &&
      found->second.bulletin.content == bulletin.content) {
    return;
  }
  Said& said = said_[topic];
  // Random: those of an earlier agent are in the session's entries.
  said = {.key = NewUuid(random_), .bulletin = std::move(bulletin)};
  remembered_.push_back(
      {.topic = topic, .key = said.key, .ids = said.bulletin.ids});
  if (remembered_.size() > kMostRemembered) remembered_.pop_front();
  Tell(topic, said);
}

void Bulletins::TakeBack(const std::string& topic) {
  if (said_.erase(topic) == 0) return;
  notify_("bulletin", {{"topic", topic}, {"key", ""}});
}

void Bulletins::Repeat() {
  for (const auto& [topic, said] : said_) Tell(topic, said);
}

void Bulletins::Tell(const std::string& topic, const Said& said) {
  const Bulletin& bulletin = said.bulletin;
  notify_("bulletin", {{"topic", topic},
                       {"key", said.key},
                       {"ids", bulletin.ids},
                       {"content", bulletin.content},
                       {"summary", bulletin.summary},
                       {"quiet", bulletin.quiet}});
}

void Bulletins::HandleShown(const Json& params) {
  const std::string topic = StringOr(params, "topic", "");
  const auto listener = shown_.find(topic);
  if (listener == shown_.end()) {
    SPDLOG_WARN("protocol: a bulletin of an unknown topic {} was shown",
                SafeLabel(topic));
    return;
  }
  const auto key = StringField(params, "key");
  if (!key.has_value()) return listener->second(StringsField(params, "ids"));
  const auto found = std::find_if(
      remembered_.begin(), remembered_.end(), [&](const Remembered& known) {
        return known.topic == topic && known.key == *key;
      });
  if (found == remembered_.end()) return;
  const std::vector<std::string> ids = std::move(found->ids);
  remembered_.erase(found);
  if (const auto said = said_.find(topic);
      said != said_.end() && said->second.key == *key) {
    said_.erase(said);
  }
  listener->second(ids);
}

}  // namespace intercom

#include "broker/work/channel.h"

#include <algorithm>
#include <utility>

namespace intercom {

bool Channel::Join(Member member) {
  const auto known =
      std::find_if(members_.begin(), members_.end(), [&](const Member& other) {
        return other.session_id == member.session_id;
      });
  if (known == members_.end()) {
    members_.push_back(std::move(member));
  } else {
    known->owner_eligible = member.owner_eligible;
  }
  return Elect();
}

bool Channel::Leave(std::string_view session_id) {
  std::erase_if(members_, [&](const Member& member) {
    return member.session_id == session_id;
  });
  return Elect();
}

const Channel::Member* Channel::Find(std::string_view session_id) const {
  for (const Member& member : members_) {
    if (member.session_id == session_id) return &member;
  }
  return nullptr;
}

bool Channel::Elect() {
  const Member* owner = Find(owner_.session_id());
  if (owner != nullptr && owner->owner_eligible) return false;
  const bool had_owner = !owner_.session_id().empty();
  owner_.Clear();
  for (const Member& member : members_) {
    if (!member.owner_eligible) continue;
    owner_.set_session_id(member.session_id);
    owner_.set_epoch(NewUuid(random_));
    return true;
  }
  return had_owner;
}

}  // namespace intercom

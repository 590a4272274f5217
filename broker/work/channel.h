#ifndef PI_INTERCOM_BROKER_WORK_CHANNEL_H_
#define PI_INTERCOM_BROKER_WORK_CHANNEL_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/base/random.h"
#include "broker/roster/session_link.h"
#include "intercom/v1/channel.pb.h"

namespace intercom {

// Who is in one channel, and who owns it. The owner stays as long as it is a
// member that may own; then the next one is the first that joined and may. Each
// change of it, or of its attachment, is a new epoch. Not thread-safe.
class Channel {
 public:
  struct Member {
    std::string session_id;
    std::shared_ptr<SessionLink> link;
    bool owner_eligible = false;
  };

  // `random` must outlive this object.
  explicit Channel(Random& random) : random_(random) {}

  // Adds a member behind the others, or takes over whether it may own. True if
  // the owner changed.
  bool Join(Member member);
  // Does nothing for a session that is no member. True if the owner changed.
  bool Leave(std::string_view session_id);

  // nullptr if it is no member.
  const Member* Find(std::string_view session_id) const;
  // In the order of joining.
  const std::vector<Member>& members() const { return members_; }

  // Without a session id: there is none.
  const v1::ChannelOwner& owner() const { return owner_; }
  bool IsOwner(std::string_view session_id) const {
    return !session_id.empty() && owner_.session_id() == session_id;
  }

 private:
  bool Elect();

  Random& random_;
  std::vector<Member> members_;
  v1::ChannelOwner owner_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_CHANNEL_H_

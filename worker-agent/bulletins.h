#ifndef PI_INTERCOM_WORKER_AGENT_BULLETINS_H_
#define PI_INTERCOM_WORKER_AGENT_BULLETINS_H_

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "broker/base/random.h"
#include "worker-agent/host/json_fields.h"

namespace intercom {

// What this agent itself has to say to its session, one bulletin a topic: a new
// one replaces that which the host has not handed over. Host/README.md says
// what becomes of it there. Not thread-safe.
class Bulletins {
 public:
  struct Bulletin {
    // The things that it tells, so that none is told twice.
    std::vector<std::string> ids;
    std::string content;
    // One line for a person.
    std::string summary;
    // Starts no turn.
    bool quiet = false;
  };
  using Notify =
      std::function<void(const std::string& method, const Json& params)>;
  // These things stand in the session.
  using Shown = std::function<void(const std::vector<std::string>& ids)>;

  // `random` must outlive this object.
  Bulletins(Random& random, Notify notify);

  // `shown` hears of each bulletin of `topic` that came into the session, also
  // of one without ids, and of one that was replaced meanwhile.
  void Listen(const std::string& topic, Shown shown);

  // The same once more changes nothing.
  void Say(const std::string& topic, Bulletin bulletin);
  void TakeBack(const std::string& topic);

  // Whether it has something to say that is not known to be in the session.
  bool IsSaid(const std::string& topic) const { return said_.contains(topic); }

  // The host dropped what it held: it is told again.
  void Repeat();

  // The `bulletin/shown` notification.
  void HandleShown(const Json& params);

 private:
  // More than a host can have begun to hand over.
  static constexpr size_t kMostRemembered = 32;

  struct Said {
    std::string key;
    Bulletin bulletin;
  };
  struct Remembered {
    std::string topic;
    std::string key;
    std::vector<std::string> ids;
  };

  void Tell(const std::string& topic, const Said& said);

  Random& random_;
  const Notify notify_;
  std::map<std::string, Shown> shown_;
  std::map<std::string, Said> said_;
  // The latest, whether or not they were replaced.
  std::deque<Remembered> remembered_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_BULLETINS_H_

#ifndef PI_INTERCOM_BROKER_WORK_ROSTER_NEWS_H_
#define PI_INTERCOM_BROKER_WORK_ROSTER_NEWS_H_

#include <string>

#include "broker/config/config_lanes.h"
#include "broker/roster/registrar.h"
#include "broker/routing/dispatcher.h"
#include "broker/storage/delivery_store.h"
#include "broker/work/roster_view.h"

namespace intercom {

// What a coordinator hears of comings and goings: an anonymous session is
// announced to its model, and the announcement is withdrawn when the session
// goes before it was read; its host is shown every change. A coordinator's
// arrival records the broker's port in its config.
//
// On the state's thread.
class RosterNews : public AttachmentObserver {
 public:
  // All must outlive this object.
  RosterNews(StateRunner& runner, ConfigLanes& lanes, WorkspaceMirror& mirror,
             Roster& roster, DeliveryStore& deliveries, Dispatcher& dispatcher,
             RosterView& view, int port)
      : runner_(runner),
        lanes_(lanes),
        mirror_(mirror),
        roster_(roster),
        deliveries_(deliveries),
        dispatcher_(dispatcher),
        view_(view),
        port_(port) {}

  // An anonymous session of another scope than the coordinator's is none of
  // its business. One that wants a stable id which another has is made known to
  // that one.
  void OnAttached(Attachment& attachment) override;
  void OnDetached(const Attachment& attachment, bool restarting) override;

  // Tells the coordinator of an anonymous session. `unless_known`: not if it
  // has been told, or will be.
  void Announce(const std::string& session_id, bool unless_known);
  // The same inside a command, which fails where its mailbox refuses, or with
  // FAILED_PRECONDITION (OTHER_SCOPE).
  absl::Status AcceptRegistration(const Attachment& attachment,
                                  const Workspace& workspace, Effects& effects);

 private:
  // Tells the holder of the stable id that `attachment` asked for.
  void TellHolder(const Attachment& attachment);
  // The session is gone, and did not come back in its time.
  void Left(const std::string& root, const std::string& session_id,
            const std::string& scope);
  // Tells the coordinator's host, not its model, that a session came or went.
  void ShowChange(const std::string& root, const std::string& session_id,
                  const std::string& scope);
  // The config is the public record of where the broker listens.
  void RecordPort(const std::string& root, const std::string& coordinator);

  StateRunner& runner_;
  ConfigLanes& lanes_;
  WorkspaceMirror& mirror_;
  Roster& roster_;
  DeliveryStore& deliveries_;
  Dispatcher& dispatcher_;
  RosterView& view_;
  const int port_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_ROSTER_NEWS_H_

#ifndef PI_INTERCOM_WORKER_AGENT_PEER_CALLS_H_
#define PI_INTERCOM_WORKER_AGENT_PEER_CALLS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "broker/base/clock.h"
#include "broker/base/task_runner.h"
#include "worker-agent/ask_calls.h"
#include "worker-agent/host/json_rpc.h"
#include "worker-agent/link/broker_link.h"
#include "worker-agent/open_pane.h"
#include "worker-agent/peer_questions.h"
#include "worker-agent/tools/peer_requests.h"
#include "worker-agent/tools/peer_result.h"

namespace intercom {

// The calls of `intercom` and `contact_supervisor`, and the host's own question
// for sessions. Not thread-safe: on the runner of the link.
class PeerCalls {
 public:
  // What one call is, beside its arguments.
  struct Call {
    std::string call_id;
    // An agent that has died may have made it.
    bool repeated = false;
    // The delivery that started the host's turn; empty for none.
    std::string trigger;
  };

  // What the session's host says once.
  struct Host {
    std::string cwd;
    // The person's home directory; may be empty.
    std::string home;
    absl::Duration ask_time = absl::Minutes(10);
    std::optional<Supervisor> supervisor;
  };

  // What this class is built on; all of it must outlive it.
  struct Setting {
    TaskRunner& runner;
    const Clock& clock;
    AskCalls::Pace pace;
    // Its own open asks need not be filled in.
    std::function<OwnSession()> own;
    // Who delegated the work of a turn that this delivery started. NOT_FOUND
    // (NO_SUPERVISOR) if nobody did, AMBIGUOUS_RUN if several did.
    std::function<absl::StatusOr<Delegation>(const std::string& trigger)>
        delegation;
    AskCalls::Progress progress;
    OpenPane open_pane;
  };

  // `answer` is called once for each call.
  PeerCalls(BrokerLink& link, Setting setting, AskCalls::Answer answer);

  void SetHost(Host host) {
    questions_.SetPlace(host.cwd, host.home);
    host_ = std::move(host);
  }

  // `arguments` passed CheckPeerArguments(); none of RunCalls.
  void Intercom(const Json& arguments, const Call& call);
  // Arguments keep the tools' schemas.
  void ContactSupervisor(const Json& arguments, const Call& call);
  void ContactPeer(const Json& arguments, const Call& call);

  // Ends the call as far as that is possible, and answers it. False if it is no
  // call that sends or waits here.
  bool Cancel(const std::string& call_id);

  // The `sessions/list` request.
  void ListSessions(const Json& params, const JsonRpc::Respond& respond) {
    questions_.ListSessions(params, respond);
  }

  void Attached() { asks_.Attached(); }
  // The session will never be attached again.
  void LinkOver(const absl::Status& why) { asks_.LinkOver(why); }

 private:
  // An envelope on its way to the broker.
  struct Sending {
    Call call;
    v1::Submit submit;
    // For a session that may have to be opened first.
    std::optional<PaneRequest> pane;
    // Whom to try where the recipient's id is nobody's that is there.
    std::string otherwise_to;
    bool is_opening = false;
    // What was opened.
    std::string preface;
    AskCalls::Amend amend;
    // The run whose worker it steers.
    std::string steered_run = {};
  };
  using Action = void (PeerCalls::*)(const Json& arguments, const Call& call);
  struct Row;

  void List(const Json& arguments, const Call& call) {
    questions_.List(arguments, call.call_id);
  }
  void Send(const Json& arguments, const Call& call);
  void Steer(const Json& arguments, const Call& call);
  void AskForDelegated(const Json& arguments, const Call& call,
                       const Delegation& delegation);
  void LeaveNote(const Json& arguments, const Call& call,
                 const Delegation& delegation);
  void Pending(const Json& arguments, const Call& call) {
    questions_.Pending(call.call_id);
  }
  void Status(const Json& arguments, const Call& call);
  void Withdraw(const Json& arguments, const Call& call) {
    questions_.Withdraw(StringOr(arguments, "messageId", ""), call.call_id);
  }

  void Begin(Sending sending);
  void Submit(const std::string& call_id);
  void HandleSubmitted(const std::string& call_id,
                       const absl::StatusOr<v1::DeliveryRecord>& record);
  void OpenPaneFor(const std::string& call_id);
  // Answers a message, or waits for the reply to an ask.
  void Conclude(const Sending& sending,
                const absl::StatusOr<v1::DeliveryRecord>& record);

  BrokerLink& link_;
  const Setting setting_;
  const AskCalls::Answer answer_;
  Host host_;
  PeerQuestions questions_;
  AskCalls asks_;
  // By call.
  std::map<std::string, Sending> sending_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_PEER_CALLS_H_

// How an agent is put together.

#include <utility>

#include "worker-agent/agent.h"
#include "worker-agent/not_connected.h"

namespace intercom {

Agent::Agent(Options options, int in, int out, Runners runners,
             const Clock& clock, Random& random, EnsureBroker ensure_broker,
             LaunchRoom room, std::function<void()> finished)
    : options_(std::move(options)),
      ensure_broker_(std::move(ensure_broker)),
      room_(std::move(room)),
      finished_(std::move(finished)),
      host_(in, out, runners.agent,
            {.notification =
                 [this](const std::string& method, const Json& params) {
                   HandleNotification(method, params);
                 },
             .request =
                 [this](const std::string& method, const Json& params,
                        const JsonRpc::Respond& respond) {
                   HandleRequest(method, params, respond);
                 },
             .blocked = [this](bool blocked) { link_.SetBlocked(blocked); },
             .closed = [this] { Leave(v1::Goodbye::REASON_HOST_GONE); }}),
      link_(options_.link, runners.agent, runners.starting, random,
            [this] { return ensure_broker_(hello_.cwd()); },
            {.welcome = [this](const v1::Welcome& w) { HandleWelcome(w); },
             .frame = [this](const v1::AttachResponse& f) { HandleFrame(f); },
             .lost =
                 [this](const absl::Status& status) {
                   view_.Connecting(status);
                   HandleLost();
                 },
             .refused =
                 [this](const absl::Status& status, bool final) {
                   view_.Refused(status, final);
                   desk_.HostDropped();
                   host_dropped_ = true;
                   if (final) tools_.LinkOver(status);
                   HandleLost();
                 },
             .superseded =
                 [this](const std::string& message) {
                   view_.Superseded(message);
                   tools_.LinkOver(view_.error());
                   HandleLost();
                 }}),
      launching_(runners.agent, runners.launching),
      panes_(runners.agent, runners.panes),
      desk_(
          host_,
          [this](v1::AttachRequest frame) { link_.Send(std::move(frame)); },
          [this] { return ReaderOfDeliveries(); }),
      controls_(
          host_, room_, panes_,
          {.instructions_with =
               [this](const v1::AgentEntry& entry) {
                 return view_.InstructionsWith(entry);
               },
           .reloaded =
               [this](const v1::AgentEntry& entry) { TakeEntry(entry); },
           .own_status = [this] { return OwnStatus(); },
           .identity = [this] { return Identity(); }},
          [this](v1::AttachRequest frame) { link_.Send(std::move(frame)); }),
      channels_(
          host_,
          [this](v1::AttachRequest frame) { link_.Send(std::move(frame)); }),
      work_([this](const std::string& method,
                   const Json& params) { host_.Notify(method, params); },
            [this](v1::AttachRequest frame) { link_.Send(std::move(frame)); }),
      bulletins_(random,
                 [this](const std::string& method, const Json& params) {
                   host_.Notify(method, params);
                 }),
      run_news_(bulletins_, NewsSetting(runners.agent, clock)),
      title_(room_, panes_, [this](const std::string& text) { Warn(text); }),
      monitor_(link_, room_, panes_, random,
               [this](const std::string& text) { Warn(text); }),
      tools_(
          link_, room_, launching_, [this] { return OwnStatus(); },
          TalkSetting(runners.agent, clock), RunSetting(runners.agent, clock)),
      watches_(
          runners.agent, clock, random, room_.around,
          [this](const std::optional<WatchBulletin>& bulletin) {
            SayWatched(bulletin);
          },
          [this](const std::string& call_id, const ToolResult& result) {
            tools_.HandleWatched(call_id, result);
          }) {
  tools_.SetWatches(
      {.call = [this](const Json& arguments,
                      const std::string& id) { watches_.Call(arguments, id); },
       .cancel =
           [this](const std::string& id) { return watches_.Cancel(id); }});
  bulletins_.Listen("watch", [this](const std::vector<std::string>& ids) {
    watches_.Told(ids);
  });
}

PeerCalls::Setting Agent::TalkSetting(TaskRunner& runner, const Clock& clock) {
  return {.runner = runner,
          .clock = clock,
          .pace = options_.asks,
          .own =
              [this] {
                OwnSession own = view_.OwnPlace(hello_);
                own.pending_asks = pending_asks_;
                return own;
              },
          .delegation =
              [this](const std::string& trigger) {
                return work_.DelegationOf(trigger);
              },
          .progress =
              [this](const std::string& call_id, const std::string& text) {
                ShowProgress(call_id, text);
              },
          .open_pane = nullptr};
}

RunCalls::Setting Agent::RunSetting(TaskRunner& runner, const Clock& clock) {
  return {.runner = runner,
          .clock = clock,
          .pace = options_.waits,
          .progress =
              [this](const std::string& call_id, const std::string& text) {
                ShowProgress(call_id, text);
              },
          .told =
              [this](const std::vector<std::string>& ids, const auto& answer) {
                host_.Request("told", {{"ids", ids}},
                              [answer](const absl::StatusOr<Json>& told) {
                                // What can't be told comes again, marked.
                                answer(told.ok() ? StringsField(*told, "told")
                                                 : std::vector<std::string>());
                              });
              },
          .collected =
              [this](const std::vector<std::string>& run_ids) {
                run_news_.Collected(run_ids);
              }};
}

RunNewsDesk::Setting Agent::NewsSetting(TaskRunner& runner,
                                        const Clock& clock) {
  return {
      .runner = runner,
      .clock = clock,
      .check_in = options_.check_in,
      .send = [this](v1::AttachRequest frame) { link_.Send(std::move(frame)); },
      .list_runs =
          [this](const auto& answer) {
            SessionCalls* const calls = link_.calls();
            if (calls == nullptr) return answer(NotConnected());
            calls->Call<v1::ListRunsResponse>(v1::ListRunsRequest(), answer);
          }};
}

void Agent::ShowProgress(const std::string& call_id, const std::string& text) {
  host_.Notify("tools/progress", {{"callId", call_id}, {"text", text}});
}

}  // namespace intercom

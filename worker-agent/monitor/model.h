#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_MODEL_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_MODEL_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "intercom/v1/inspect.pb.h"
#include "intercom/v1/message.pb.h"
#include "worker-agent/monitor/timeline.h"

namespace intercom {

enum class MonitorKey {
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kEnter,
  kEscape,
  kQuit,
  kTimeline,
  kWaits,
  kBody,
  kHelp,
  kAll,
};

// What the monitor knows and what its person looks at. Pure: time comes in with
// each call, and what is to be asked of the broker is read off it.
//
// Times are the broker's: its last word, and what has passed since by the
// steady clock. Before that, the machine's.
class MonitorModel {
 public:
  enum class View { kTable, kTimeline, kWaits };

  // One session of the table, in the order in which it is shown.
  struct Row {
    const v1::SessionOverview* session = nullptr;
    const v1::WorkspaceOverview* workspace = nullptr;
    // Whether it is the first of its workspace.
    bool is_first = false;
  };

  // How much there is of what is on the screen.
  struct Extent {
    // How far a page key goes.
    size_t page = 1;
    // How far the pane's text can be moved.
    size_t most_scroll = 0;
  };

  struct Scope {
    // A directory in the workspace that is shown.
    std::string directory;
    // All workspaces instead.
    bool all = false;
  };

  MonitorModel(Scope scope, absl::Time wall, absl::Duration steady);
  // Rows point into the overview.
  MonitorModel(const MonitorModel&) = delete;
  MonitorModel& operator=(const MonitorModel&) = delete;

  // What comes from the broker.
  void ApplyOverview(v1::WatchOverviewResponse overview, absl::Duration steady);
  // False if nothing that is shown changed.
  bool ApplyEvent(const v1::WatchEventsResponse& event);
  void ApplyDeliveries(const v1::ListDeliveriesResponse& before);
  // The broker went away, or refuses: a sentence for a person.
  void ApplyLoss(std::string problem, absl::Duration steady);
  // The answers to what is wanted; others are ignored.
  void ApplySession(const std::string& id,
                    absl::StatusOr<v1::GetSessionResponse> session);
  void ApplyMessage(const std::string& id,
                    absl::StatusOr<v1::GetMessageResponse> message);

  // What a person pressed, in front of that much text.
  void Press(MonitorKey key, const Extent& extent);

  // What is wanted of the broker: empty for nothing.
  std::string wanted_session() const;
  const std::string& wanted_message() const { return body_id_; }
  const Scope& scope() const { return scope_; }
  bool is_over() const { return is_over_; }

  // What is shown.
  absl::Time Now(absl::Duration steady) const;
  // Unset before the first.
  const std::optional<v1::WatchOverviewResponse>& overview() const {
    return overview_;
  }
  const std::vector<Row>& rows() const { return rows_; }
  // The place of the selected row; 0 without rows.
  size_t selected_row() const { return selected_row_; }
  const Timeline& timeline() const { return timeline_; }
  // The place of the selected item; 0 without items.
  size_t selected_item() const;
  View view() const { return view_; }
  bool shows_details() const { return details_open_; }
  bool shows_help() const { return help_open_; }
  // How many lines of a details pane, body or list are above its first.
  size_t scroll() const { return scroll_; }
  // Unset while it is being read.
  const std::optional<absl::StatusOr<v1::GetSessionResponse>>& details() const {
    return details_;
  }
  const std::optional<absl::StatusOr<v1::GetMessageResponse>>& body() const {
    return body_;
  }
  // Empty while the broker is there.
  const std::string& problem() const { return problem_; }
  absl::Time lost_at() const { return lost_at_; }

 private:
  void Select(size_t row);
  void Close();
  void Move(MonitorKey key, const Extent& extent);
  static size_t Moved(MonitorKey key, size_t at, size_t page, size_t count);

  Scope scope_;
  absl::Time base_;
  absl::Duration base_steady_;
  std::optional<v1::WatchOverviewResponse> overview_;
  std::vector<Row> rows_;
  std::string selected_id_;
  size_t selected_row_ = 0;
  Timeline timeline_;
  // Empty: the newest, whichever that is.
  std::string selected_item_id_;
  View view_ = View::kTable;
  bool details_open_ = false;
  bool help_open_ = false;
  bool is_over_ = false;
  size_t scroll_ = 0;
  std::string details_id_;
  std::optional<absl::StatusOr<v1::GetSessionResponse>> details_;
  std::string body_id_;
  std::optional<absl::StatusOr<v1::GetMessageResponse>> body_;
  std::string problem_;
  absl::Time lost_at_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_MODEL_H_

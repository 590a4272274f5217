#include "worker-agent/monitor/model.h"

#include <algorithm>
#include <utility>

#include "broker/base/proto_time.h"

namespace intercom {
namespace {

bool IsAway(const v1::SessionOverview& session) {
  return session.entry().presence() != v1::PRESENCE_ATTACHED &&
         session.entry().presence() != v1::PRESENCE_RESTARTING;
}

}  // namespace

MonitorModel::MonitorModel(Scope scope, absl::Time wall, absl::Duration steady)
    : scope_(std::move(scope)), base_(wall), base_steady_(steady) {}

absl::Time MonitorModel::Now(absl::Duration steady) const {
  return base_ + (steady - base_steady_);
}

void MonitorModel::ApplyOverview(v1::WatchOverviewResponse overview,
                                 absl::Duration steady) {
  if (overview.has_at()) {
    base_ = FromProto(overview.at());
    base_steady_ = steady;
  }
  problem_.clear();
  overview_ = std::move(overview);
  rows_.clear();
  for (const v1::WorkspaceOverview& workspace : overview_->workspaces()) {
    const size_t begin = rows_.size();
    for (const v1::SessionOverview& session : workspace.sessions()) {
      rows_.push_back({.session = &session, .workspace = &workspace});
    }
    // The coordinator stays first, and those that are away come last.
    std::stable_sort(rows_.begin() + static_cast<ptrdiff_t>(begin), rows_.end(),
                     [&workspace](const Row& a, const Row& b) {
                       const auto place = [&workspace](const Row& row) {
                         const bool coordinates =
                             row.session->entry().session_id() ==
                             workspace.coordinator_session_id();
                         return coordinates ? 0 : IsAway(*row.session) ? 2 : 1;
                       };
                       return place(a) < place(b);
                     });
    if (rows_.size() > begin) rows_[begin].is_first = true;
  }
  const auto found =
      std::find_if(rows_.begin(), rows_.end(), [this](const Row& row) {
        return row.session->entry().session_id() == selected_id_;
      });
  // One that is gone leaves the selection to whoever is in its place now.
  Select(found == rows_.end() ? selected_row_
                              : static_cast<size_t>(found - rows_.begin()));
}

bool MonitorModel::ApplyEvent(const v1::WatchEventsResponse& event) {
  return timeline_.Add(event);
}

void MonitorModel::ApplyDeliveries(const v1::ListDeliveriesResponse& before) {
  timeline_.Fill(before);
}

void MonitorModel::ApplyLoss(std::string problem, absl::Duration steady) {
  if (problem_.empty()) lost_at_ = Now(steady);
  problem_ = std::move(problem);
}

void MonitorModel::ApplySession(
    const std::string& id, absl::StatusOr<v1::GetSessionResponse> session) {
  if (id == wanted_session()) details_ = std::move(session);
}

void MonitorModel::ApplyMessage(
    const std::string& id, absl::StatusOr<v1::GetMessageResponse> message) {
  if (id == body_id_) body_ = std::move(message);
}

std::string MonitorModel::wanted_session() const {
  return details_open_ && view_ == View::kTable ? selected_id_ : "";
}

size_t MonitorModel::selected_item() const {
  return timeline_.Find(selected_item_id_).value_or(0);
}

void MonitorModel::Select(size_t row) {
  selected_row_ = rows_.empty() ? 0 : std::min(row, rows_.size() - 1);
  const std::string id =
      rows_.empty() ? "" : rows_[selected_row_].session->entry().session_id();
  if (id == selected_id_) return;
  selected_id_ = id;
  details_.reset();
  scroll_ = 0;
}

void MonitorModel::Press(MonitorKey key, const Extent& extent) {
  switch (key) {
    case MonitorKey::kQuit:
      is_over_ = true;
      return;
    case MonitorKey::kEscape:
      Close();
      return;
    case MonitorKey::kHelp:
      help_open_ = !help_open_;
      return;
    default:
      break;
  }
  // Any other key is about what is below the help.
  help_open_ = false;
  switch (key) {
    case MonitorKey::kTimeline:
    case MonitorKey::kWaits: {
      const View asked =
          key == MonitorKey::kTimeline ? View::kTimeline : View::kWaits;
      view_ = view_ == asked ? View::kTable : asked;
      body_id_.clear();
      body_.reset();
      scroll_ = 0;
      return;
    }
    case MonitorKey::kAll:
      scope_.all = !scope_.all;
      timeline_.Clear();
      selected_item_id_.clear();
      return;
    case MonitorKey::kEnter:
      if (view_ == View::kTable) {
        details_open_ = !details_open_ && !rows_.empty();
        details_.reset();
        scroll_ = 0;
      } else if (view_ == View::kTimeline) {
        Press(MonitorKey::kBody, extent);
      }
      return;
    case MonitorKey::kBody:
      if (!body_id_.empty()) {
        Close();
      } else if (view_ == View::kTimeline && !timeline_.items().empty()) {
        const TimelineItem& item = timeline_.items()[selected_item()];
        if (!item.is_envelope) return;
        // What is read stays selected, whatever comes.
        selected_item_id_ = item.id;
        body_id_ = item.id;
        scroll_ = 0;
      }
      return;
    default:
      Move(key, extent);
  }
}

void MonitorModel::Close() {
  scroll_ = 0;
  if (help_open_) {
    help_open_ = false;
  } else if (!body_id_.empty()) {
    body_id_.clear();
    body_.reset();
  } else if (view_ != View::kTable) {
    view_ = View::kTable;
  } else if (details_open_) {
    details_open_ = false;
    details_.reset();
  } else {
    is_over_ = true;
  }
}

size_t MonitorModel::Moved(MonitorKey key, size_t at, size_t page,
                           size_t count) {
  if (count == 0) return 0;
  const size_t last = count - 1;
  switch (key) {
    case MonitorKey::kUp:
      return at - std::min<size_t>(at, 1);
    case MonitorKey::kDown:
      return std::min(at + 1, last);
    case MonitorKey::kPageUp:
      return at - std::min(at, page);
    case MonitorKey::kPageDown:
      return std::min(at + page, last);
    case MonitorKey::kHome:
      return 0;
    case MonitorKey::kEnd:
      return last;
    default:
      return at;
  }
}

void MonitorModel::Move(MonitorKey key, const Extent& extent) {
  const bool pages = key == MonitorKey::kPageUp || key == MonitorKey::kPageDown;
  if (!body_id_.empty() || view_ == View::kWaits || (details_open_ && pages)) {
    scroll_ = Moved(key, std::min(scroll_, extent.most_scroll), extent.page,
                    extent.most_scroll + 1);
  } else if (view_ == View::kTimeline) {
    const size_t to =
        Moved(key, selected_item(), extent.page, timeline_.items().size());
    selected_item_id_ = to == 0 ? "" : timeline_.items()[to].id;
  } else {
    Select(Moved(key, selected_row_, extent.page, rows_.size()));
  }
}

}  // namespace intercom

#include <algorithm>

#include "broker/base/proto_time.h"
#include "broker/domain/fence.h"
#include "worker-agent/monitor/panes.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/record_text.h"

namespace intercom {
namespace {

// What a long text is read up to: four times what a message may have.
constexpr size_t kMostBodyLines = 8000;

Line Plain(std::string_view text, size_t width, Style style = Style::kPlain) {
  Line line;
  line.Add(text, style);
  return line.FitTo(width);
}

void AddText(std::vector<Line>& pane, std::string_view text, size_t width,
             Style style = Style::kPlain) {
  for (const std::string& row : WrapText(text, width, kMostBodyLines)) {
    pane.push_back(Plain(row, width, style));
  }
}

std::string_view WaitKind(v1::WaitEdge::Kind kind) {
  return kind == v1::WaitEdge::KIND_RUN ? "run" : "reply";
}

}  // namespace

Line Heading(std::string_view title, size_t width) {
  Line line;
  line.Add(title, Style::kStrong);
  if (line.columns() + 2 > width) return line.FitTo(width);
  line.Pad(1);
  std::string rule;
  for (size_t at = line.columns(); at < width; ++at) rule += "─";
  return line.Add(rule, Style::kFaint);
}

std::vector<Line> WaitsPane(const MonitorModel& model, size_t width,
                            Ages& ages) {
  std::vector<v1::WaitEdge> edges;
  if (model.overview().has_value()) {
    edges.assign(model.overview()->waits().begin(),
                 model.overview()->waits().end());
  }
  if (edges.empty()) {
    return {Plain("Nobody waits for anybody.", width, Style::kFaint)};
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const v1::WaitEdge& a, const v1::WaitEdge& b) {
                     return FromProto(a.since()) < FromProto(b.since());
                   });
  std::vector<Line> pane;
  for (const v1::WaitEdge& edge : edges) {
    Line line;
    line.AddCell(ages.Of(edge.since()), ClockColumns(width)).Pad(2);
    line.Append(
            NamesLine(NameOr(edge.waiting_name(), edge.waiting_session_id()),
                      NameOr(edge.for_name(), edge.for_session_id()),
                      NamesColumns(width), Style::kWaiting))
        .Pad(2);
    line.Add(WaitKind(edge.kind()), Style::kFaint);
    pane.push_back(line.FitTo(width));
  }
  return pane;
}

std::vector<Line> BodyPane(const MonitorModel& model, size_t width) {
  std::vector<Line> pane;
  const auto& body = model.body();
  if (!body.has_value()) {
    return {Plain("Reading the message …", width, Style::kFaint)};
  }
  if (!body->ok()) {
    AddText(pane, std::string(body->status().message()), width, Style::kBad);
    return pane;
  }
  const v1::DeliveryRecord& record = (*body)->record();
  AddText(
      pane,
      MessageIdLabel(record.envelope().envelope_id()) + RecordHeadline(record),
      width, Style::kStrong);
  std::string states;
  for (const v1::DeliveryMark& mark : record.marks()) {
    if (!states.empty()) states += " · ";
    states +=
        std::string(StateLabel(mark.state())) + " " + TimeOfDay(mark.at());
  }
  if (record.end() != v1::DELIVERY_END_UNSPECIFIED) {
    states += " · " + std::string(EndLabel(record.end())) + " " +
              TimeOfDay(record.ended_at());
  }
  AddText(pane, states, width, Style::kFaint);
  pane.push_back(Plain("", width));
  // The bar says that it is somebody's words.
  const std::vector<std::string> rows =
      WrapText(record.envelope().text(), width - std::min<size_t>(width, 2),
               kMostBodyLines);
  for (const std::string& row : rows) {
    Line line;
    line.Add("│ ", Style::kFaint).Add(row);
    pane.push_back(line.FitTo(width));
  }
  for (const v1::MessageAttachment& attachment :
       record.envelope().attachments()) {
    AddText(pane,
            "+ " + std::string(AttachmentTypeLabel(attachment.type())) + " " +
                QuotedLine(attachment.name(), 120) + ", " +
                std::to_string(attachment.content().size()) + " bytes",
            width, Style::kFaint);
  }
  return pane;
}

std::vector<Line> HelpPane(size_t width,
                           const std::vector<std::string>& notes) {
  struct Key {
    std::string_view key;
    std::string_view what;
  };
  static constexpr Key kKeys[] = {
      {"↑ ↓", "select a session or a message"},
      {"PgUp PgDn", "a page; in details, the text"},
      {"Home End", "first and last"},
      {"Enter", "details of the session, on and off"},
      {"t  Tab", "timeline of messages"},
      {"b", "text of the selected message"},
      {"w", "who waits for whom"},
      {"a", "all workspaces, or this one"},
      {"Esc", "close what is open, then quit"},
      {"q  Ctrl-C", "quit; no session notices"},
      {"?", "this help"},
  };
  std::vector<Line> pane;
  for (const Key& key : kKeys) {
    Line line;
    line.AddCell(key.key, 11, Style::kStrong).Add(key.what);
    pane.push_back(line.FitTo(width));
  }
  if (!notes.empty()) pane.push_back(Plain("", width));
  for (const std::string& note : notes) {
    AddText(pane, note, width, Style::kFaint);
  }
  return pane;
}

}  // namespace intercom

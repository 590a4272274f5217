#include "worker-agent/cli/read_marks.h"

#include <ostream>

#include "broker/base/error.h"
#include "broker/domain/fence.h"

namespace intercom {

absl::Status MarkShown(const CommandContext& context,
                       const std::vector<std::string>& delivery_ids) {
  context.out.flush();
  if (!context.out) {
    return Error(absl::StatusCode::kUnavailable, "OUTPUT_FAILED",
                 "standard output takes nothing; what was to be shown stays "
                 "unread: intercom inbox");
  }
  if (delivery_ids.empty()) return absl::OkStatus();
  v1::MarkReadRequest request;
  for (const std::string& id : delivery_ids) request.add_delivery_ids(id);
  const auto marked = context.client.MarkRead(request);
  if (!marked.ok()) {
    context.err << "intercom: it stays unread, for the broker could not be told"
                   " that it was shown: "
                << StripControls(MessageOf(marked.status())) << "\n";
  }
  return absl::OkStatus();
}

}  // namespace intercom

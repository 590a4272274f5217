#include "worker-agent/tab_title.h"

#include "broker/base/error.h"

namespace intercom {

void TabTitle::Show(const std::string& name) {
  if (name == shown_) return;
  shown_ = name;
  failed_ = false;
  panes_.Run([set = room_.name_own_tab, name] { return set(name); },
             [this, name](const absl::Status& status) {
               if (status.ok()) return;
               // Another name may have been asked for meanwhile.
               failed_ = failed_ || name == shown_;
               warn_("The tab could not be named: " + MessageOf(status));
             });
}

void TabTitle::TryAgain() {
  if (failed_) shown_.clear();
}

}  // namespace intercom

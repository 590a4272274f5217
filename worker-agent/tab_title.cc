#include "worker-agent/tab_title.h"

#include "broker/base/error.h"

namespace intercom {

void TabTitle::Show(const std::string& name) {
  if (name == shown_) return;
  shown_ = name;
  panes_.Run([set = room_.name_own_tab, name] { return set(name); },
             [this](const absl::Status& status) {
               if (status.ok()) return;
               warn_("The tab could not be named: " + MessageOf(status));
             });
}

}  // namespace intercom

// Sessions that are attached: what changes of them, and how they leave.
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/permissions.h"
#include "broker/roster/registrar.h"
#include "spdlog/spdlog.h"

namespace intercom {

absl::Status Registrar::Draining() {
  return Error(absl::StatusCode::kUnavailable, "DRAINING",
               "the broker is leaving; reconnect starts a new one");
}

void Registrar::Leave(const Attachment& attachment, bool restarting) {
  const Attachment left = attachment;
  if (!roster_.Remove(left.session_id, left.epoch, restarting)) return;
  spdlog::info("detach session={} epoch={} restarting={}", left.session_id,
               left.epoch, restarting);
  runner_.PostCommand(
      {[this, id = left.session_id, epoch = left.epoch](Effects&) {
         return sessions_.SetLeft(id, epoch, clock_.Now());
       },
       nullptr});
  for (AttachmentObserver* observer : observers_) {
    observer->OnDetached(left, restarting);
  }
}

void Registrar::Detach(SessionKey key, v1::Goodbye::Reason reason) {
  runner_.PostTask([this, key = std::move(key), reason] {
    const Attachment* attachment = Present(key);
    if (attachment == nullptr) return;
    const bool restarting = reason == v1::Goodbye::REASON_RELOAD ||
                            reason == v1::Goodbye::REASON_NEW ||
                            reason == v1::Goodbye::REASON_RESUME ||
                            reason == v1::Goodbye::REASON_FORK;
    Leave(*attachment, restarting);
    if (const auto waiting = waiting_.find(key.session_id);
        waiting != waiting_.end()) {
      PendingPtr next = std::move(waiting->second);
      waiting_.erase(waiting);
      // Anew from the config: it may have changed while it waited.
      FindWorkspace(std::move(next));
    }
  });
}

void Registrar::SetActivity(SessionKey key, v1::Activity activity) {
  runner_.PostTask(
      [this, key = std::move(key), activity = std::move(activity)]() mutable {
        Attachment* attachment = Present(key);
        if (attachment == nullptr) return;
        if (!activity.label().empty()) {
          activity.set_label(SafeLabel(activity.label(), 64));
        }
        if (!activity.tool().empty()) {
          activity.set_tool(NameLabel(activity.tool(), 64));
        }
        if (!activity.note().empty()) {
          activity.set_note(SafeLabel(activity.note(), 80));
        }
        if (!activity.model().empty()) {
          activity.set_model(SafeLabel(activity.model(), 128));
        }
        const int64_t us = absl::ToUnixMicros(clock_.Now());
        activity.mutable_at()->set_seconds(us / 1'000'000);
        activity.mutable_at()->set_nanos(static_cast<int32_t>(us % 1'000'000) *
                                         1000);
        std::swap(attachment->activity, activity);
        for (AttachmentObserver* observer : observers_) {
          observer->OnActivity(*attachment, /*before=*/activity);
        }
      });
}

void Registrar::Rename(SessionKey key, std::string name) {
  runner_.PostTask([this, key = std::move(key), name = std::move(name)] {
    Attachment* attachment = Present(key);
    if (attachment == nullptr || name.size() > kMaxNameBytes) return;
    if (attachment->session_name == name) return;
    attachment->session_name = name;
    TellChanged(*attachment);
    runner_.PostCommand(
        {[this, id = key.session_id, name](Effects& effects) -> absl::Status {
           INTERCOM_RETURN_IF_ERROR(sessions_.SetName(id, name));
           if (!on_arrival_) return absl::OkStatus();
           INTERCOM_ASSIGN_OR_RETURN(auto row, sessions_.Find(id));
           if (!row.has_value()) return absl::OkStatus();
           return on_arrival_(
               {*std::move(row), v1::START_REASON_UNSPECIFIED, true}, effects);
         },
         [id = key.session_id](const absl::Status& status) {
           spdlog::error("the name of {} was not stored: {}", id,
                         MessageOf(status));
         }});
  });
}

void Registrar::SetLoaded(SessionKey key, std::string entry_hash) {
  runner_.PostTask(
      [this, key = std::move(key), entry_hash = std::move(entry_hash)] {
        Attachment* attachment = Present(key);
        if (attachment == nullptr || !attachment->entry.has_value()) return;
        attachment->loaded_hash = entry_hash.substr(0, 64);
        attachment->awaits_reload = false;
        TellChanged(*attachment);
      });
}

void Registrar::TellChanged(const Attachment& attachment) {
  for (AttachmentObserver* observer : observers_) {
    observer->OnChanged(attachment);
  }
}

void Registrar::Drain() {
  runner_.PostTask([this] {
    draining_ = true;
    for (auto& [id, pending] : waiting_) pending->done(Draining());
    waiting_.clear();
    for (Attachment* attachment : roster_.All()) {
      v1::AttachResponse frame;
      frame.mutable_draining()->set_message(MessageOf(Draining()));
      attachment->link->Send(std::move(frame));
    }
  });
}

void Registrar::CloseAll() {
  runner_.PostTask([this] {
    for (Attachment* attachment : roster_.All()) {
      attachment->link->Close(Draining());
    }
  });
}

void Registrar::RefreshRoles(const Workspace& workspace) {
  for (Attachment* attachment : roster_.InWorkspace(workspace.root)) {
    const v1::Role role = workspace.RoleOf(attachment->session_id);
    const v1::AgentEntry* entry = workspace.EntryOf(attachment->session_id);
    const bool same_entry =
        entry == nullptr
            ? !attachment->entry.has_value()
            : attachment->entry.has_value() &&
                  attachment->entry->entry_hash() == entry->entry_hash();
    if (role == attachment->role && same_entry) continue;
    attachment->role = role;
    attachment->entry.reset();
    if (entry == nullptr) {
      attachment->loaded_hash.clear();
      attachment->awaits_reload = false;
    } else {
      attachment->entry = *entry;
      // Nobody can reload a coordinator.
      attachment->awaits_reload =
          role == v1::ROLE_WORKER && attachment->loaded_hash.empty();
    }
    v1::AttachResponse frame;
    v1::RoleChanged& changed = *frame.mutable_role_changed();
    changed.set_role(role);
    for (std::string& name : PermittedOperations(role)) {
      changed.add_operations(std::move(name));
    }
    if (entry != nullptr) *changed.mutable_agent_entry() = *entry;
    attachment->link->Send(std::move(frame));
  }
}

Attachment* Registrar::Present(const SessionKey& key) {
  Attachment* attachment = roster_.Find(key.session_id);
  return attachment != nullptr && attachment->epoch == key.epoch ? attachment
                                                                 : nullptr;
}

}  // namespace intercom

#include "broker/config/config_lanes.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "broker/base/error.h"
#include "broker/base/mutex.h"
#include "broker/config/config_edit.h"
#include "broker/config/snapshot_cache.h"

namespace intercom {
namespace {

// The answer to one call. Copies answer the same call; the first one counts.
template <typename T>
class Reply {
 public:
  // Nothing if the call was refused, and answered so.
  static std::optional<Reply> Begin(const std::shared_ptr<LanePool>& pool,
                                    std::string timeout_message,
                                    ConfigLanes::Callback<T> done) {
    auto shared = std::make_shared<ConfigLanes::Callback<T>>(std::move(done));
    const auto call = pool->Begin(
        std::move(timeout_message),
        [shared](absl::Status status) { (*shared)(std::move(status)); });
    if (!call.has_value()) return std::nullopt;
    return Reply(pool, *call, std::move(shared));
  }

  bool IsPending() const { return pool_->IsPending(call_); }

  void Send(absl::StatusOr<T> result) const {
    pool_->Answer(call_, [done = done_, result = std::move(result)]() mutable {
      (*done)(std::move(result));
    });
  }

 private:
  Reply(std::shared_ptr<LanePool> pool, LanePool::CallId call,
        std::shared_ptr<ConfigLanes::Callback<T>> done)
      : pool_(std::move(pool)), call_(call), done_(std::move(done)) {}

  std::shared_ptr<LanePool> pool_;
  LanePool::CallId call_;
  std::shared_ptr<ConfigLanes::Callback<T>> done_;
};

// Snapshot calls that one read will answer.
using Batch = std::vector<Reply<ConfigSnapshotPtr>>;
constexpr size_t kPruneAbove = 64;

std::string RootLane(const std::string& root) { return "root:" + root; }

}  // namespace

struct ConfigLanes::State {
  State(std::shared_ptr<LanePool> lane_pool,
        std::shared_ptr<FileSystem> file_system)
      : pool(std::move(lane_pool)), files(std::move(file_system)) {}

  const std::shared_ptr<LanePool> pool;
  const std::shared_ptr<FileSystem> files;
  // Taken before the pool's own lock, never after it.
  Mutex mu;
  // By root: batches whose read has not begun and that may still grow.
  std::map<std::string, std::shared_ptr<Batch>> open_batches
      ABSL_GUARDED_BY(mu);

  ConfigFile File(const std::string& root) { return {*files, root}; }

  ReadTiming Timing() {
    return {.now = [this] { return pool->Now(); },
            .pause = [this](absl::Duration time) { return pool->Pause(time); }};
  }

  std::string TimeoutMessage(const std::string& directory) const {
    return absl::StrCat("the file system of ", directory,
                        " did not answer within ",
                        absl::ToDoubleSeconds(pool->options().deadline), " s");
  }

  // The calls of `batch`, which grows no more.
  Batch Close(const std::string& root, const std::shared_ptr<Batch>& batch)
      ABSL_LOCKS_EXCLUDED(mu) {
    MutexLock lock(mu);
    const auto open = open_batches.find(root);
    if (open != open_batches.end() && open->second == batch) {
      open_batches.erase(open);
    }
    return std::exchange(*batch, {});
  }

  void RunOpen(SnapshotCache& cache, Discovery discovery,
               const std::string& session_id, int port,
               const Reply<OpenedWorkspace>& reply);
  void RunUpdate(SnapshotCache& cache, const std::string& root,
                 const Edit& edit, const Guard& guard,
                 const Reply<ConfigSnapshotPtr>& reply);
};

ConfigLanes::ConfigLanes(TaskRunner& reply_runner, const Clock& clock,
                         std::shared_ptr<FileSystem> files, LaneOptions options)
    : state_(std::make_shared<State>(
          std::make_shared<LanePool>(reply_runner, clock, options),
          std::move(files))) {}

ConfigLanes::~ConfigLanes() { state_->pool->Stop(); }

void ConfigLanes::Snapshot(const std::string& root,
                           Callback<ConfigSnapshotPtr> done) {
  const auto reply = Reply<ConfigSnapshotPtr>::Begin(
      state_->pool, state_->TimeoutMessage(root), std::move(done));
  if (!reply.has_value()) return;
  std::shared_ptr<Batch> batch;
  {
    MutexLock lock(state_->mu);
    std::shared_ptr<Batch>& open = state_->open_batches[root];
    if (open != nullptr) {
      // In a lane that hangs, calls go but the batch stays.
      if (open->size() >= kPruneAbove &&
          (open->size() & (open->size() - 1)) == 0) {
        open->erase(
            std::remove_if(open->begin(), open->end(),
                           [](const auto& call) { return !call.IsPending(); }),
            open->end());
      }
      open->push_back(*reply);
      return;
    }
    open = batch = std::make_shared<Batch>(Batch{*reply});
  }
  const absl::Status queued = state_->pool->Enqueue(
      RootLane(root), [state = state_, root, batch](SnapshotCache& cache) {
        const Batch calls = state->Close(root, batch);
        const auto snapshot = cache.Refresh(state->File(root), state->Timing());
        for (const auto& call : calls) call.Send(snapshot);
      });
  if (queued.ok()) return;
  for (const auto& call : state_->Close(root, batch)) call.Send(queued);
}

void ConfigLanes::Open(DiscoveryRequest request, std::string session_id,
                       int port, Callback<OpenedWorkspace> done) {
  const auto reply = Reply<OpenedWorkspace>::Begin(
      state_->pool, state_->TimeoutMessage(request.cwd), std::move(done));
  if (!reply.has_value()) return;
  const std::string lane = "cwd:" + request.cwd;
  const absl::Status queued = state_->pool->Enqueue(
      lane, [state = state_, reply = *reply, request = std::move(request),
             session_id = std::move(session_id), port](SnapshotCache&) {
        if (!reply.IsPending()) return;
        auto found = intercom::FindRoot(*state->files, request);
        if (!found.ok()) return reply.Send(found.status());
        if (found->kind == Discovery::Kind::kNone) {
          return reply.Send(OpenedWorkspace{.discovery = *std::move(found),
                                            .snapshot = nullptr});
        }
        const std::string root = *found->root;
        const absl::Status queued_again = state->pool->Enqueue(
            RootLane(root), [state, reply, found = *std::move(found),
                             session_id, port](SnapshotCache& cache) {
              state->RunOpen(cache, found, session_id, port, reply);
            });
        if (!queued_again.ok()) reply.Send(queued_again);
      });
  if (!queued.ok()) reply->Send(queued);
}

void ConfigLanes::State::RunOpen(SnapshotCache& cache, Discovery discovery,
                                 const std::string& session_id, int port,
                                 const Reply<OpenedWorkspace>& reply) {
  if (!reply.IsPending()) return;
  const ConfigFile file = File(*discovery.root);
  bool created = false;
  if (discovery.kind == Discovery::Kind::kCreatable) {
    const auto bytes = NewConfig(session_id, port);
    if (!bytes.ok()) return reply.Send(bytes.status());
    const absl::Status status = file.Create(*bytes, pool->Now());
    if (!status.ok() && !absl::IsAlreadyExists(status)) {
      return reply.Send(status);
    }
    created = status.ok();
  }
  auto snapshot = cache.Refresh(file, Timing());
  if (!snapshot.ok()) return reply.Send(snapshot.status());
  discovery.kind = Discovery::Kind::kFound;
  reply.Send(OpenedWorkspace{.discovery = std::move(discovery),
                             .snapshot = *std::move(snapshot),
                             .created = created});
}

void ConfigLanes::FindRoot(DiscoveryRequest request, Callback<Discovery> done) {
  const auto reply = Reply<Discovery>::Begin(
      state_->pool, state_->TimeoutMessage(request.cwd), std::move(done));
  if (!reply.has_value()) return;
  const std::string lane = "cwd:" + request.cwd;
  const absl::Status queued = state_->pool->Enqueue(
      lane, [state = state_, reply = *reply,
             request = std::move(request)](SnapshotCache&) {
        if (!reply.IsPending()) return;
        reply.Send(intercom::FindRoot(*state->files, request));
      });
  if (!queued.ok()) reply->Send(queued);
}

void ConfigLanes::Update(const std::string& root, Edit edit, Guard guard,
                         Callback<ConfigSnapshotPtr> done) {
  const auto reply = Reply<ConfigSnapshotPtr>::Begin(
      state_->pool,
      state_->TimeoutMessage(root) +
          "; whether the change was published is unknown",
      std::move(done));
  if (!reply.has_value()) return;
  {
    // A snapshot that is asked for after this update shall see it.
    MutexLock lock(state_->mu);
    state_->open_batches.erase(root);
  }
  const absl::Status queued = state_->pool->Enqueue(
      RootLane(root),
      [state = state_, root, reply = *reply, edit = std::move(edit),
       guard = std::move(guard)](SnapshotCache& cache) {
        state->RunUpdate(cache, root, edit, guard, reply);
      });
  if (!queued.ok()) reply->Send(queued);
}

void ConfigLanes::State::RunUpdate(SnapshotCache& cache,
                                   const std::string& root, const Edit& edit,
                                   const Guard& guard,
                                   const Reply<ConfigSnapshotPtr>& reply) {
  if (!reply.IsPending()) return;
  const ConfigFile file = File(root);
  const absl::Time now = pool->Now();
  auto read = ReadFresh(file, Timing());
  if (!read.ok()) return reply.Send(read.status());
  absl::StatusOr<std::string> edited;
  if (!pool->CallOut([&] { edited = edit(*read); })) return;
  if (!edited.ok()) return reply.Send(edited.status());
  if (*edited == read->bytes) {
    return reply.Send(cache.Store(file, *std::move(read), now));
  }
  auto config = WorkspaceConfig::Parse(*edited, file.path());
  if (!config.ok()) {
    return reply.Send(Error(absl::StatusCode::kInvalidArgument, "EDIT_INVALID",
                            MessageOf(config.status())));
  }
  const absl::Status published = file.Replace(*read, *edited, now, [&] {
    absl::Status verdict;
    // Whoever was told of a timeout may have tried something else since.
    if (!reply.IsPending() || !pool->CallOut([&] {
          if (guard != nullptr) verdict = guard();
        })) {
      return absl::CancelledError("the call was answered before");
    }
    return verdict;
  });
  if (!published.ok()) return reply.Send(published);
  reply.Send(cache.Store(file,
                         ReadConfig{.bytes = *std::move(edited),
                                    .config = *std::move(config),
                                    .identity = {}},
                         absl::InfinitePast()));
}

void ConfigLanes::CheckDirectory(const std::string& root, std::string relative,
                                 Callback<std::string> done) {
  const auto reply = Reply<std::string>::Begin(
      state_->pool, state_->TimeoutMessage(root), std::move(done));
  if (!reply.has_value()) return;
  const absl::Status queued = state_->pool->Enqueue(
      RootLane(root), [state = state_, root, reply = *reply,
                       relative = std::move(relative)](SnapshotCache&) {
        if (!reply.IsPending()) return;
        reply.Send(CheckProjectDirectory(*state->files, root, relative));
      });
  if (!queued.ok()) reply->Send(queued);
}

}  // namespace intercom

#ifndef PI_INTERCOM_BROKER_WORK_RUNS_H_
#define PI_INTERCOM_BROKER_WORK_RUNS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/storage/run_store.h"
#include "broker/storage/state_runner.h"

namespace intercom {

// The one way in which runs change: on disk, then in memory, then told. Memory
// holds the open ones and shows what is committed.
//
// Not thread-safe: everything is called on the state's thread.
class Runs {
 public:
  // Open runs of a supervisor.
  static constexpr int kMaxOpen = 64;
  // Settled runs that are kept for a supervisor, and those whose end it never
  // heard of.
  static constexpr int kUsuallyKept = 25;
  static constexpr int kMostKept = 1'000;
  static constexpr int kMostUntold = 256;

  // Both must outlive this object.
  Runs(RunStore& store, const Clock& clock) : store_(store), clock_(clock) {}

  // What a change is to those who are told.
  enum class News { kNone, kTell };
  // Called after the commit of each change, in this order. Before Load.
  using OnChanged = std::function<void(const RunRow& run, News news)>;
  void AddOnChanged(OnChanged on_changed) {
    on_changed_.push_back(std::move(on_changed));
  }

  // Reads the open runs anew: at start, and after a failed commit.
  absl::Status Load();

  // The open mail of `from` passed to `to`, and the runs in it.
  void OnMailMoved(const std::string& from, const std::string& to);

  // How many settled runs `supervisor` keeps; 0: as usual. Until it has said so
  // only what it collected gives way.
  void SetKept(const std::string& supervisor, int kept);

  // Open runs, as committed. nullptr for one that is not.
  const RunRow* Find(int64_t number) const;
  const RunRow* FindByDelivery(std::string_view delivery_id) const;
  // The oldest first.
  std::vector<RunRow> All() const;
  std::vector<RunRow> OfWorker(std::string_view session_id) const;
  std::vector<RunRow> OfSupervisor(std::string_view session_id) const;

  // The rest is called inside a command.
  //
  // An effect that makes the run of this delivery known, if there is one then:
  // before what offers the delivery.
  void Foresee(const std::string& delivery_id, Effects& effects);
  // Stores a new run, whose delivery has this sequence, and sets its number.
  absl::Status Open(int64_t sequence, RunRow& run, Effects& effects);
  // Stores what changed of a run.
  absl::Status Put(const RunRow& run, News news, Effects& effects);
  // Ends an open run. Its result is what is stored as such.
  absl::Status Settle(RunRow run, v1::Run::State state, std::string reason,
                      std::string detail, Effects& effects);
  // Ends it by its supervisor's wish where there was one, else as FAILED.
  absl::Status SettleFailed(RunRow run, std::string reason, std::string detail,
                            Effects& effects);
  // Its supervisor has got the result.
  absl::Status SetCollected(RunRow run, Effects& effects);

 private:
  int KeptFor(const std::string& supervisor) const;
  void Keep(const RunRow& run);

  RunStore& store_;
  const Clock& clock_;
  std::vector<OnChanged> on_changed_;
  // Open ones by number, and their numbers by delivery.
  std::map<int64_t, RunRow> open_;
  absl::flat_hash_map<std::string, int64_t> by_delivery_;
  // By supervisor.
  static constexpr size_t kMaxRemembered = 4096;
  absl::flat_hash_map<std::string, int> kept_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_RUNS_H_

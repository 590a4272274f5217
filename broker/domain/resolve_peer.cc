#include "broker/domain/resolve_peer.h"

#include <algorithm>
#include <utility>

#include "absl/functional/function_ref.h"
#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/short_id.h"
#include "broker/domain/text_rules.h"

namespace intercom {
namespace {

constexpr size_t kMaxListed = 20;
constexpr size_t kMaxShownDirectory = 1024;

using Candidates = std::vector<PeerCandidate>;
using Places = std::vector<size_t>;

bool IsUnnamed(const PeerCandidate& one) { return IsBlank(one.name); }

std::string_view LastPart(std::string_view directory) {
  return directory.substr(directory.rfind('/') + 1);
}

bool IsIn(std::string_view directory, const PeerCandidate& one) {
  for (const std::string_view own : {one.cwd, one.workspace_root}) {
    if (own.empty() || directory.empty()) continue;
    if (directory == own) return true;
    if (directory.find('/') == std::string_view::npos &&
        directory == LastPart(own)) {
      return true;
    }
  }
  return false;
}

// One query over one set of candidates.
class Resolution {
 public:
  Resolution(const PeerQuery& query, const Candidates& candidates)
      : to_(Trimmed(query.to)),
        key_(FoldName(to_)),
        cwd_(WithoutTrailingSlash(query.cwd)),
        self_(query.self),
        all_(candidates) {}

  absl::StatusOr<size_t> Run() const {
    if (!cwd_.empty() && cwd_.front() != '/') {
      return Error(absl::StatusCode::kInvalidArgument, "DIRECTORY_INVALID",
                   "cwd is not an absolute directory: " + Shown(cwd_));
    }
    if (to_.empty() && cwd_.empty()) return Empty();
    if (to_.empty()) return SoleThere();
    const auto is_away = [](const PeerCandidate& one) {
      return !one.is_attached();
    };
    if (const Places found = Matching(&Resolution::HasId); !found.empty()) {
      return Checked(found.front());
    }
    if (const Places found = Matching(&Resolution::HasStableId);
        !found.empty()) {
      return Checked(Latest(found));
    }
    if (Places found = Matching(&Resolution::HasTeamName); !found.empty()) {
      return Sole(std::move(found), /*is_name=*/true);
    }
    for (const auto& [fits, is_name] :
         {std::pair(&Resolution::HasName, true),
          std::pair(&Resolution::HasRuntimeName, false),
          std::pair(&Resolution::HasPrefix, false),
          std::pair(&Resolution::HasNameAtDirectory, true),
          std::pair(&Resolution::HasLabel, true)}) {
      Places found = Matching(fits);
      std::erase_if(found, [&](size_t i) { return is_away(all_[i]); });
      if (!found.empty()) return Sole(std::move(found), is_name);
    }
    for (const auto& [fits, is_name] :
         {std::pair(&Resolution::HasPrefix, false),
          std::pair(&Resolution::HasNameAtDirectory, true),
          std::pair(&Resolution::HasName, true),
          std::pair(&Resolution::HasLabel, true)}) {
      Places found = Matching(fits);  // None is attached.
      if (is_name) found = LatestByDirectory(found);
      if (!found.empty()) return Sole(std::move(found), is_name);
    }
    return Error(absl::StatusCode::kNotFound, "UNKNOWN_RECIPIENT",
                 "no session that can be reached from here is " +
                     QuotedLine(to_) + "; " + Attached() +
                     ". Nothing was sent");
  }

 private:
  bool HasId(const PeerCandidate& one) const { return one.session_id == to_; }
  bool HasStableId(const PeerCandidate& one) const {
    return one.stable_id == to_;
  }
  bool HasName(const PeerCandidate& one) const {
    return NameKey(one.name) == key_ || NameKey(one.own_name) == key_;
  }
  bool HasLabel(const PeerCandidate& one) const {
    return IsShownAs(one.name, to_) || IsShownAs(one.own_name, to_);
  }
  bool HasTeamName(const PeerCandidate& one) const {
    return one.is_of_team && NameKey(one.name) == key_;
  }
  bool HasRuntimeName(const PeerCandidate& one) const {
    if (!IsUnnamed(one) || !to_.starts_with(kRuntimeNamePrefix)) {
      return false;
    }
    const std::string_view id = to_.substr(kRuntimeNamePrefix.size());
    return one.session_id == id || (CharacterCount(id) >= kMinShortId &&
                                    one.session_id.starts_with(id));
  }
  bool HasPrefix(const PeerCandidate& one) const {
    return CharacterCount(to_) >= kMinIdPrefix &&
           one.session_id.starts_with(to_);
  }
  bool HasNameAtDirectory(const PeerCandidate& one) const {
    return IsNameAt(one.name, one) || IsNameAt(one.own_name, one);
  }
  // Whether it is `of_one` and where `one` is.
  bool IsNameAt(std::string_view of_one, const PeerCandidate& one) const {
    // A name may hold an @, and so may a directory.
    const std::string name = NameKey(of_one) + "@";
    if (name.size() == 1 || !key_.starts_with(name)) return false;
    // Folding may change the length of the name, not that of what follows it:
    // that is looked for from the end of what was given.
    for (size_t at = to_.find('@'); at != std::string_view::npos;
         at = to_.find('@', at + 1)) {
      if (NameKey(to_.substr(0, at)) + "@" == name &&
          IsIn(WithoutTrailingSlash(to_.substr(at + 1)), one)) {
        return true;
      }
    }
    return false;
  }

  Places Matching(bool (Resolution::*fits)(const PeerCandidate&) const) const {
    Places found;
    for (size_t i = 0; i < all_.size(); ++i) {
      if ((this->*fits)(all_[i])) found.push_back(i);
    }
    return found;
  }
  size_t Latest(const Places& places) const {
    return *std::max_element(
        places.begin(), places.end(), [this](size_t a, size_t b) {
          return std::pair(all_[a].is_attached(), all_[a].last_seen) <
                 std::pair(all_[b].is_attached(), all_[b].last_seen);
        });
  }
  Places LatestByDirectory(const Places& places) const {
    Places latest;
    for (const size_t place : places) {
      const auto same = std::find_if(
          latest.begin(), latest.end(),
          [&](size_t other) { return all_[other].cwd == all_[place].cwd; });
      if (same == latest.end()) {
        latest.push_back(place);
      } else {
        *same = Latest({*same, place});
      }
    }
    return latest;
  }

  bool IsSelf(size_t place) const {
    return !self_.empty() && all_[place].session_id == self_;
  }
  absl::StatusOr<size_t> Sole(Places found, bool is_name) const {
    if (is_name && found.size() > 1) {
      std::erase_if(found, [this](size_t i) { return IsSelf(i); });
    }
    if (!cwd_.empty() && found.size() > 1) {
      Places there = found;
      std::erase_if(there, [this](size_t i) { return all_[i].cwd != cwd_; });
      if (!there.empty()) found = std::move(there);
    }
    if (found.size() > 1) return Ambiguous(found);
    return Checked(found.front());
  }
  absl::StatusOr<size_t> Checked(size_t place) const {
    if (IsSelf(place)) {
      return Error(
          absl::StatusCode::kInvalidArgument, "SELF_TARGET",
          QuotedLine(to_) + " is this session itself; nothing was sent");
    }
    if (!cwd_.empty() && all_[place].cwd != cwd_) {
      return Error(absl::StatusCode::kFailedPrecondition, "NOT_IN_DIRECTORY",
                   QuotedLine(to_) + " is" + Described({place}) +
                       "\nand not in " + Shown(cwd_) + ". Nothing was sent");
    }
    return place;
  }
  absl::StatusOr<size_t> SoleThere() const {
    Places there;
    for (size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].is_attached() && all_[i].cwd == cwd_ && !IsSelf(i)) {
        there.push_back(i);
      }
    }
    if (there.size() > 1) return Ambiguous(there);
    if (!there.empty()) return there.front();
    return Error(absl::StatusCode::kNotFound, "NOBODY_THERE",
                 "no other session is attached in " + Shown(cwd_) + "; " +
                     Attached() + ". Nothing was sent");
  }
  absl::Status Empty() const {
    return Error(
        absl::StatusCode::kInvalidArgument, "TARGET_EMPTY",
        "no recipient is named; say whom, or a directory in which one session "
        "is attached: " +
            Attached());
  }
  absl::Status Ambiguous(const Places& found) const {
    const std::string what =
        to_.empty() ? Shown(cwd_) + " has" : QuotedLine(to_) + " may be any of";
    return Error(absl::StatusCode::kFailedPrecondition, "AMBIGUOUS_RECIPIENT",
                 what + " " + std::to_string(found.size()) +
                     " sessions; say the id of one, or its name as "
                     "Name@directory. Nothing was sent." +
                     Described(found));
  }

  static std::string Shown(std::string_view directory) {
    return MarkedLine(directory, kMaxShownDirectory);
  }
  // Who is attached beside the sender.
  std::string Attached() const {
    Places places;
    for (size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].is_attached() && !IsSelf(i)) places.push_back(i);
    }
    if (places.empty()) return "no other session is attached";
    return "attached are:" + Described(places);
  }
  // A line for each.
  std::string Described(const Places& places) const {
    std::vector<std::string_view> ids;
    for (const size_t place : places) ids.push_back(all_[place].session_id);
    const std::vector<std::string> short_ids = ShortIds(ids);
    std::string text;
    for (size_t i = 0; i < std::min(places.size(), kMaxListed); ++i) {
      const PeerCandidate& one = all_[places[i]];
      text += "\n  " +
              NameOr(IsUnnamed(one) ? RuntimeName(short_ids[i])
                                    : std::string(one.name),
                     short_ids[i]) +
              " (" + IdLabel(short_ids[i], kMaxShownDirectory) + ")";
      if (!one.cwd.empty()) text += " in " + Shown(one.cwd);
      text += one.is_attached()                         ? ", attached"
              : one.presence == v1::PRESENCE_RESTARTING ? ", restarting"
                                                        : ", away";
    }
    if (places.size() > kMaxListed) {
      text += "\n  and " + std::to_string(places.size() - kMaxListed) + " more";
    }
    return text;
  }

  const std::string_view to_;
  const std::string key_;
  const std::string_view cwd_;
  const std::string_view self_;
  const Candidates& all_;
};

}  // namespace

absl::StatusOr<size_t> ResolvePeer(
    const PeerQuery& query, const std::vector<PeerCandidate>& candidates) {
  return Resolution(query, candidates).Run();
}

std::string_view WithoutTrailingSlash(std::string_view directory) {
  while (directory.size() > 1 && directory.back() == '/') {
    directory.remove_suffix(1);
  }
  return directory;
}

}  // namespace intercom

#include "broker/domain/wait_graph.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "broker/base/status_macros.h"

namespace intercom {

absl::StatusOr<std::vector<WaitEdge>> FindWaitingWay(std::string_view start,
                                                     std::string_view goal,
                                                     EdgesFrom edges_from) {
  // By which edge each session was first reached.
  absl::flat_hash_map<std::string, WaitEdge> reached_by;
  reached_by.try_emplace(std::string(start));
  std::deque<std::string> next = {std::string(start)};
  while (!next.empty()) {
    const std::string session = std::move(next.front());
    next.pop_front();
    INTERCOM_ASSIGN_OR_RETURN(auto edges, edges_from(session));
    for (WaitEdge& edge : edges) {
      std::string to = edge.to;
      if (!reached_by.try_emplace(to, std::move(edge)).second) continue;
      if (to != goal) {
        next.push_back(std::move(to));
        continue;
      }
      std::vector<WaitEdge> way;
      for (std::string at = std::move(to); at != start; at = way.back().from) {
        way.push_back(reached_by.at(at));
      }
      std::reverse(way.begin(), way.end());
      return way;
    }
  }
  return std::vector<WaitEdge>();
}

}  // namespace intercom

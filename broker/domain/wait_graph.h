#ifndef PI_INTERCOM_BROKER_DOMAIN_WAIT_GRAPH_H_
#define PI_INTERCOM_BROKER_DOMAIN_WAIT_GRAPH_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace intercom {

// One session that waits for another.
struct WaitEdge {
  // Of what it waits by: an ask's delivery id.
  std::string id;
  std::string from;
  std::string to;
};

// The edges that leave a session. An error ends the search with it.
using EdgesFrom =
    absl::FunctionRef<absl::StatusOr<std::vector<WaitEdge>>(std::string_view)>;

// A shortest way from `start` to `goal`, edge by edge; empty if there is none.
// A new edge from `goal` to `start` would close it to a cycle. Looks at each
// session once, so a graph that has cycles already does no harm. `start` and
// `goal` differ.
absl::StatusOr<std::vector<WaitEdge>> FindWaitingWay(std::string_view start,
                                                     std::string_view goal,
                                                     EdgesFrom edges_from);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_WAIT_GRAPH_H_

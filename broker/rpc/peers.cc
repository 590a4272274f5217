#include "broker/rpc/peers.h"

#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/process.h"

namespace intercom {
namespace {

constexpr std::string_view kUnixPrefix = "fd:";
constexpr std::string_view kBearer = "Bearer ";
constexpr size_t kMaxLookups = 256;

std::string Metadata(const grpc::ServerContextBase& context, const char* name) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(name);
  return found == metadata.end()
             ? std::string()
             : std::string(found->second.data(), found->second.size());
}

// Takes the same time wherever the two differ.
bool SameSecret(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^
                  static_cast<unsigned char>(b[b.empty() ? 0 : i % b.size()]);
  }
  return difference == 0;
}

absl::Status CheckToken(const std::string& authorization,
                        std::string_view token) {
  if (authorization.empty()) {
    return Error(absl::StatusCode::kUnauthenticated, "TOKEN_MISSING",
                 "calls over TCP need the account's token: add the metadata "
                 "\"authorization: Bearer <token>\" with the content of the "
                 "file token in the state directory");
  }
  std::string_view given = authorization;
  if (given.substr(0, kBearer.size()) != kBearer ||
      !SameSecret(given.substr(kBearer.size()), token)) {
    return Error(absl::StatusCode::kUnauthenticated, "TOKEN_WRONG",
                 "the bearer token is not that of this broker; read the file "
                 "token in its state directory again");
  }
  return absl::OkStatus();
}

}  // namespace

Peers::Process Peers::ProcessOf(int64_t pid) {
  if (pid <= 0) return {};
  return {Ancestry(pid), EnvironmentOf(pid, "PI_INTERCOM_SESSION")};
}

void Peers::AddUnixPeer(int descriptor, int64_t pid) {
  Process process = ProcessOf(pid);
  MutexLock lock(mu_);
  by_peer_[std::string(kUnixPrefix) + std::to_string(descriptor)] =
      std::move(process);
}

void Peers::FindEvidence(const grpc::ServerContextBase& context, Found found) {
  calls_.fetch_add(1, std::memory_order_relaxed);
  const std::string peer = context.peer();
  CallerEvidence evidence;
  evidence.session_token = Metadata(context, "intercom-session");
  evidence.over_tcp = peer.compare(0, kUnixPrefix.size(), kUnixPrefix) != 0;
  const auto answer = [](CallerEvidence evidence, Process process,
                         Found& found) {
    evidence.ancestry = std::move(process.ancestry);
    evidence.claimed_session = std::move(process.claimed_session);
    found(std::move(evidence));
  };
  if (!evidence.over_tcp) {
    return answer(std::move(evidence), OfUnixPeer(peer), found);
  }
  if (const absl::Status status =
          CheckToken(Metadata(context, "authorization"), token_);
      !status.ok()) {
    return found(status);
  }
  // The port may belong to another process at the next call.
  const size_t colon = peer.rfind(':');
  const int port =
      colon == std::string::npos ? 0 : std::atoi(peer.c_str() + colon + 1);
  auto shared_found = std::make_shared<Found>(std::move(found));
  const bool posted = lookups_.TryPost(
      [answer, port, evidence = std::move(evidence), shared_found]() mutable {
        answer(std::move(evidence), ProcessOf(OwnerOfTcpPort(port)),
               *shared_found);
      },
      kMaxLookups);
  if (posted) return;
  (*shared_found)(Error(absl::StatusCode::kResourceExhausted, "BROKER_BUSY",
                        "too many TCP calls wait; nothing was done, try again "
                        "in a second"));
}

Peers::Process Peers::OfUnixPeer(const std::string& peer) {
  MutexLock lock(mu_);
  const auto found = by_peer_.find(peer);
  return found == by_peer_.end() ? Process() : found->second;
}

}  // namespace intercom

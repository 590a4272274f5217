#ifndef PI_INTERCOM_BROKER_SERVER_UNIX_ACCEPTOR_H_
#define PI_INTERCOM_BROKER_SERVER_UNIX_ACCEPTOR_H_

#include <grpcpp/server.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "broker/rpc/peers.h"

namespace intercom {

// Accepts the Unix socket's connections itself, so that the kernel can say
// whose they are, and hands them to gRPC.
class UnixAcceptor {
 public:
  // Binds and listens at `path`, replacing what is there: the caller holds the
  // broker's lock. References must outlive this object.
  static absl::StatusOr<std::unique_ptr<UnixAcceptor>> Listen(
      const std::string& path, Peers& peers);

  // Stops accepting and removes the socket file if it still is ours.
  ~UnixAcceptor();

  // Starts accepting for `server`, which must outlive this object.
  void Start(grpc::Server& server);
  // Stops accepting; connections that gRPC has stay.
  void Stop();

 private:
  UnixAcceptor(std::string path, int listener, int wake_read, int wake_write,
               Peers& peers);
  void Run(grpc::Server& server);
  void Accept(grpc::Server& server);

  const std::string path_;
  const int listener_;
  const int wake_read_;
  int wake_write_;
  Peers& peers_;
  const uint64_t inode_;
  // Descriptors get rising numbers, so that the name of a connection in gRPC
  // (`fd:N`) is not soon another one's.
  int next_descriptor_;
  std::thread thread_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_SERVER_UNIX_ACCEPTOR_H_

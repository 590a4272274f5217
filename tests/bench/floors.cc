#include "tests/bench/floors.h"

#include <fcntl.h>
#include <grpcpp/server_builder.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "intercom/v1/session.grpc.pb.h"
#include "tests/bench/frame_queue.h"
#include "tests/bench/progress.h"

namespace intercom::bench {
namespace {

constexpr size_t kPingBytes = 256;
constexpr size_t kPageBytes = 4096;

class FloorStream;

// The attached streams by session id. Thread-safe.
class Directory {
 public:
  void Add(const std::string& id, FloorStream* stream) {
    MutexLock lock(mu_);
    streams_[id] = stream;
  }
  void Remove(const std::string& id) {
    MutexLock lock(mu_);
    streams_.erase(id);
  }
  // Null if nobody has that id. Measurements let a session leave only after its
  // last message, so that the stream outlives the use.
  FloorStream* Find(const std::string& id) {
    MutexLock lock(mu_);
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : found->second;
  }

 private:
  Mutex mu_;
  std::map<std::string, FloorStream*> streams_ ABSL_GUARDED_BY(mu_);
};

class FloorStream final
    : public grpc::ServerBidiReactor<v1::AttachRequest, v1::AttachResponse> {
 public:
  explicit FloorStream(Directory& directory) : directory_(directory) {
    StartRead(&incoming_);
  }

  void Send(v1::AttachResponse frame) {
    if (const auto* next = writes_.Push(std::move(frame))) StartWrite(next);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return;
    if (const auto* next = writes_.Next()) StartWrite(next);
  }
  void OnReadDone(bool ok) override {
    if (!ok || incoming_.has_goodbye()) {
      directory_.Remove(id_);
      Finish(grpc::Status::OK);
      return;
    }
    if (incoming_.has_hello()) Register();
    if (incoming_.has_submit()) Route(*incoming_.mutable_submit());
    StartRead(&incoming_);
  }
  void OnDone() override { delete this; }

 private:
  void Register() {
    id_ = incoming_.hello().session_id();
    directory_.Add(id_, this);
    v1::AttachResponse welcome;
    welcome.mutable_welcome()->set_protocol_version(1);
    Send(std::move(welcome));
    v1::AttachResponse reconcile;
    reconcile.mutable_reconcile();
    Send(std::move(reconcile));
  }
  void Route(v1::Submit& submit) {
    v1::AttachResponse answer;
    answer.mutable_submitted()->set_envelope_id(
        submit.envelope().envelope_id());
    if (FloorStream* recipient = directory_.Find(submit.to())) {
      v1::AttachResponse frame;
      v1::Delivery& delivery = *frame.mutable_delivery();
      delivery.set_delivery_id(id_ + "/" + submit.envelope().envelope_id());
      delivery.mutable_sender()->set_session_id(id_);
      *delivery.mutable_envelope() = std::move(*submit.mutable_envelope());
      recipient->Send(std::move(frame));
    }
    Send(std::move(answer));
  }

  Directory& directory_;
  std::string id_;
  v1::AttachRequest incoming_;
  FrameQueue<v1::AttachResponse> writes_;
};

class FloorService final : public v1::SessionService::CallbackService {
 public:
  grpc::ServerBidiReactor<v1::AttachRequest, v1::AttachResponse>* Attach(
      grpc::CallbackServerContext*) override {
    return new FloorStream(directory_);
  }

 private:
  Directory directory_;
};

void ReadAll(int descriptor, char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t got = read(descriptor, bytes, size);
    if (got <= 0) return;
    bytes += got;
    size -= static_cast<size_t>(got);
  }
}

}  // namespace

void ServeRoutedFloor(const std::string& socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  FloorService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (server == nullptr) Die("the floor can't serve on " + socket);
  if (write(3, "ready\n", 6) != 6) Die("nobody waits for the floor");
  server->Wait();
  std::exit(0);
}

Samples RawSocketRoundTrips(int count) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    Die("no socket pair");
  }
  std::thread echo([end = ends[1], count] {
    char bytes[kPingBytes];
    for (int i = 0; i < count; ++i) {
      ReadAll(end, bytes, sizeof(bytes));
      if (write(end, bytes, sizeof(bytes)) < 0) return;
    }
  });
  Samples samples;
  char bytes[kPingBytes] = {};
  for (int i = 0; i < count; ++i) {
    const TimePoint start = SteadyClock::now();
    if (write(ends[0], bytes, sizeof(bytes)) < 0) break;
    ReadAll(ends[0], bytes, sizeof(bytes));
    samples.Add(SteadyClock::now() - start);
  }
  echo.join();
  close(ends[0]);
  close(ends[1]);
  return samples;
}

Samples DiskSyncs(const std::string& directory, int count) {
  const std::string path = directory + "/fdatasync";
  const int descriptor =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  Samples samples;
  const std::string page(kPageBytes, 'x');
  for (int i = 0; i < count; ++i) {
    const TimePoint start = SteadyClock::now();
    if (write(descriptor, page.data(), page.size()) !=
            static_cast<ssize_t>(page.size()) ||
        fdatasync(descriptor) != 0) {
      Die("can't write to " + path);
    }
    samples.Add(SteadyClock::now() - start);
  }
  close(descriptor);
  unlink(path.c_str());
  return samples;
}

}  // namespace intercom::bench

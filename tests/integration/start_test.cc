// What stops a broker from starting, and what it chooses when it starts.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "broker/base/error.h"
#include "tests/integration/broker_fixture.h"
#include "tests/integration/child_program.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class StartTest : public BrokerFixture {
 protected:
  absl::Status StartWith(const BrokerOptions& options) {
    auto broker = RunningBroker::Start(options, clock_);
    if (!broker.ok()) return broker.status();
    broker_ = *std::move(broker);
    return absl::OkStatus();
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat facts {};
    EXPECT_EQ(stat(path.c_str(), &facts), 0) << path;
    return facts.st_mode & 0777;
  }
};

// Another program on a port of 127.0.0.1.
class OtherProgram {
 public:
  OtherProgram() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    descriptor_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(descriptor_, reinterpret_cast<sockaddr*>(&address), size),
              0);
    EXPECT_EQ(listen(descriptor_, 1), 0);
    getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~OtherProgram() { close(descriptor_); }
  int port() const { return port_; }

 private:
  int descriptor_ = -1;
  int port_ = 0;
};

TEST_F(StartTest, TheStateDirectoryIsForItsOwnerOnly) {
  StartBroker();
  EXPECT_EQ(ModeOf(home_), 0700u);
  EXPECT_EQ(ModeOf(TokenPath(home_)), 0600u);
  EXPECT_EQ(ModeOf(SocketPath(home_)), 0600u);
  EXPECT_EQ(ModeOf(DatabasePath(home_)), 0600u);
  EXPECT_THAT(ReadText(EndpointPath(home_)),
              HasSubstr("\"port\": " + std::to_string(broker_->port())));
}

TEST_F(StartTest, AHomeThatOthersCanEnterIsClosed) {
  fs::create_directories(home_);
  fs::permissions(home_, fs::perms::all);
  StartBroker();
  EXPECT_EQ(ModeOf(home_), 0700u);
}

TEST_F(StartTest, TokenAndPortStayTheSame) {
  StartBroker();
  const std::string token = Token();
  const int port = broker_->port();
  broker_->Stop();
  BrokerOptions options = Options();
  options.port = -1;
  EXPECT_THAT(StartWith(options), IsOk());
  EXPECT_EQ(Token(), token);
  EXPECT_EQ(broker_->port(), port);
}

TEST_F(StartTest, ASavedPortThatIsInUseIsReplaced) {
  const OtherProgram other;
  fs::create_directories(home_);
  std::ofstream(EndpointPath(home_)) << "{\"port\": " << other.port() << "}";
  BrokerOptions options = Options();
  options.port = -1;
  EXPECT_THAT(StartWith(options), IsOk());
  EXPECT_NE(broker_->port(), other.port());
}

TEST_F(StartTest, ADemandedPortThatIsInUseIsRefused) {
  const OtherProgram other;
  BrokerOptions options = Options();
  options.port = other.port();
  const absl::Status status = StartWith(options);
  EXPECT_THAT(status, FailsWith(absl::StatusCode::kUnavailable, "PORT_IN_USE"));
  EXPECT_THAT(MessageOf(status), HasSubstr(std::to_string(other.port())));
}

TEST_F(StartTest, ASocketPathThatIsTooLongIsRefused) {
  BrokerOptions options = Options();
  options.home = dir_ / std::string(120, 'h');
  EXPECT_THAT(
      StartWith(options),
      FailsWith(absl::StatusCode::kFailedPrecondition, "SOCKET_PATH_TOO_LONG"));
  EXPECT_FALSE(fs::exists(options.home));
}

TEST_F(StartTest, AHomeThatCannotBeWrittenIsRefused) {
  std::ofstream(dir_ / "file") << "";
  for (const std::string& home :
       {dir_ / "file/home", std::string("/proc/intercom")}) {
    BrokerOptions options = Options();
    options.home = home;
    EXPECT_THAT(
        StartWith(options),
        FailsWith(absl::StatusCode::kPermissionDenied, "HOME_UNWRITABLE"))
        << home;
  }
}

TEST_F(StartTest, AFileInThePlaceOfTheHomeIsRefused) {
  std::ofstream(dir_ / "file") << "";
  BrokerOptions options = Options();
  options.home = dir_ / "file";
  EXPECT_THAT(StartWith(options),
              FailsWith(absl::StatusCode::kFailedPrecondition, "HOME_INVALID"));
}

TEST_F(StartTest, ASecondBrokerOnOneHomeIsRefusedNamingTheFirst) {
  fs::create_directories(home_);
  ChildProgram first({"--lock", BrokerLockPath(home_)});
  ASSERT_EQ(first.ReadLine(), std::to_string(first.pid()));
  const absl::Status status = StartWith(Options());
  EXPECT_THAT(status, FailsWith(absl::StatusCode::kFailedPrecondition,
                                "BROKER_RUNNING"));
  EXPECT_THAT(MessageOf(status), HasSubstr(std::to_string(first.pid())));
}

TEST_F(StartTest, AWorkspaceIsMirroredFromTheStart) {
  BrokerOptions options = Options();
  options.workspace = root_;
  ASSERT_THAT(StartWith(options), IsOk());
  v1::GetWorkspaceRequest request;
  request.set_directory(root_);
  v1::GetWorkspaceResponse workspace;
  const auto client = Unix();
  // A read of the same lane comes after the first one's.
  ASSERT_TRUE(client
                  ->Call(*client->workspaces,
                         &v1::WorkspaceService::Stub::GetWorkspace, request,
                         workspace)
                  .ok());
  v1::ListWorkspacesResponse listed;
  ASSERT_TRUE(client
                  ->Call(*client->inspection,
                         &v1::InspectionService::Stub::ListWorkspaces,
                         v1::ListWorkspacesRequest(), listed)
                  .ok());
  ASSERT_EQ(listed.workspaces_size(), 1);
  EXPECT_EQ(listed.workspaces(0).root(), root_);
  EXPECT_EQ(listed.workspaces(0).agents(), 3);
}

}  // namespace
}  // namespace intercom

// The guard under test is this program itself.
#include "gtest/gtest.h"
#include "worker-agent/guard/guard.h"

int main(int argc, char** argv) {
  if (const auto guard = intercom::GuardOrderOf({argv + 1, argv + argc})) {
    return intercom::RunGuard(*guard);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

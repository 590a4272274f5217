// Searches for a text that breaks a promise of fence.h. Not part of the suite:
//
//   cmake --preset clang -DINTERCOM_FUZZ=ON
//   ninja -C build/clang fence_fuzzer
//   build/clang/tests/fence_fuzzer -max_total_time=60

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/support/fence_invariants.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string broken = intercom::BrokenPromise(
      std::string_view(reinterpret_cast<const char*>(data), size));
  if (broken.empty()) return 0;
  std::fprintf(stderr, "broken: %s\n", broken.c_str());
  std::abort();
}

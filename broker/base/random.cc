#include "broker/base/random.h"

#include <sys/random.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_format.h"

namespace intercom {

uint64_t SystemRandom::Next() {
  uint64_t value = 0;
  // Up to 256 bytes getrandom neither blocks (after boot) nor is interrupted;
  // without randomness no secret is safe, so there is nothing to go on with.
  if (getrandom(&value, sizeof(value), 0) != sizeof(value)) {
    std::perror("getrandom");
    std::abort();
  }
  return value;
}

std::string NewUuid(Random& random) {
  const uint64_t high = (random.Next() & ~0xf000ULL) | 0x4000ULL;
  const uint64_t low =
      (random.Next() & 0x3fffffffffffffffULL) | 0x8000000000000000ULL;
  return absl::StrFormat("%08x-%04x-%04x-%04x-%012x", high >> 32,
                         (high >> 16) & 0xffff, high & 0xffff, low >> 48,
                         low & 0xffffffffffffULL);
}

std::string NewSecret(Random& random) {
  std::string secret;
  for (int i = 0; i < 4; ++i) {
    absl::StrAppendFormat(&secret, "%016x", random.Next());
  }
  return secret;
}

}  // namespace intercom

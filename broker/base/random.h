#ifndef PI_INTERCOM_BROKER_BASE_RANDOM_H_
#define PI_INTERCOM_BROKER_BASE_RANDOM_H_

#include <cstdint>
#include <string>

namespace intercom {

// The only source of randomness. Thread-safe.
class Random {
 public:
  virtual ~Random() = default;
  // 64 unpredictable bits.
  virtual uint64_t Next() = 0;
};

// The kernel's generator (getrandom).
class SystemRandom : public Random {
 public:
  uint64_t Next() override;
};

// A version 4 UUID in lower case.
std::string NewUuid(Random& random);

// 256 bits in hexadecimal, for secrets.
std::string NewSecret(Random& random);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_BASE_RANDOM_H_

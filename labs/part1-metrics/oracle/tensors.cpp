#include "labs/part1-metrics/oracle/tensors.h"

namespace rooflab {
namespace {

/// The middle of one of 2^24 equal pieces of (-1, 1): never zero, exact in float32.
float signed_unit(Random& random) {
  constexpr int kBits = 23;
  const std::uint64_t bits = random();
  const auto magnitude = static_cast<float>(bits >> (64 - kBits));
  const float value = (magnitude + 0.5F) * 0x1p-23F;
  return (bits & 1) != 0 ? -value : value;
}

}  // namespace

Tensor random_input(const std::string& name, ElementType type, std::vector<std::int64_t> shape,
                    Random& random) {
  return drawn(name, type, Role::input, std::move(shape), [&] { return signed_unit(random); });
}

}  // namespace rooflab

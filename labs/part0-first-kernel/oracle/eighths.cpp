#include "labs/part0-first-kernel/oracle/eighths.h"

#include <utility>

namespace rooflab {

Tensor eighths(const std::string& name, std::vector<std::int64_t> shape, Random& random) {
  return drawn(name, ElementType::float32, Role::input, std::move(shape), [&] {
    const auto magnitude = 1 + static_cast<double>(random() % 1000);
    return (random() & 1) != 0 ? magnitude / 8 : -magnitude / 8;
  });
}

Expected exactly(const std::string& tensor, std::vector<double> values) {
  constexpr double kHalfAnEighth = 1.0 / 16;
  std::vector<double> tolerance(values.size(), kHalfAnEighth);
  return {tensor, std::move(values), std::move(tolerance)};
}

}  // namespace rooflab

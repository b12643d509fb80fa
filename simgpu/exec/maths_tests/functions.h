#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simgpu/exec/maths_tests/quad.h"

namespace simgpu::maths_tests {

struct Arguments {
  Quad a = 0, b = 0, c = 0, d = 0;
  bool single = false;  ///< of a function of floats
};

/// How far a result may be off: so many floats (or doubles) from the one that is nearest to the
/// true value, or so much from the true value.
struct Allowed {
  double ulps = 0;
  double absolute = 0;
};
inline constexpr Allowed kAnything{std::numeric_limits<double>::infinity(), 0};

using Limit = std::function<Allowed(const Arguments&)>;
using Oracle = std::function<Quad(const Arguments&)>;
/// Intervals in which many arguments are to lie, beside those all over the range of a type.
using Intervals = std::vector<std::pair<double, double>>;

struct Function {
  std::string name;  ///< of its kernels: "sin" for f32_sin and f64_sin
  unsigned arguments = 1;
  Oracle value;
  std::optional<Limit> f32, f64;
  Intervals intervals;
  bool whole = false;        ///< the result is a long long
  bool either_zero = false;  ///< a zero's sign is left open
};

/// Every function of functions.cu, with the limits that the CUDA C++ Programming Guide 13.0 gives
/// ("Mathematical Functions", tables 17, 18 and 21).
std::vector<Function> all_functions();

}  // namespace simgpu::maths_tests

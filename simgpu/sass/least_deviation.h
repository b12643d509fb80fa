#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace simgpu::sass {

/// sum of coefficient x unknown = value; a deviation costs its size times `weight`.
struct Equation {
  struct Term {
    std::uint32_t unknown = 0;
    double coefficient = 0;
  };
  std::vector<Term> terms;
  double value = 0;  ///< not negative
  double weight = 1;
};

/// Unknowns, none of them negative, that cost least.
struct LeastDeviation {
  std::vector<double> unknowns;
};

/// Solves min(sum of weight x |deviation| + sum of cost x unknown), a linear program, by the
/// simplex method on a dense table.
/// @param costs of each unknown, not negative
/// @returns nothing when the table would be too large, or it does not end
std::optional<LeastDeviation> solve(const std::vector<Equation>& equations,
                                    const std::vector<double>& costs);

}  // namespace simgpu::sass

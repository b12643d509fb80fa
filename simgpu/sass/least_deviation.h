#pragma once

#include <algorithm>
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

/// How much work may be done, in cells of the table that are looked at or changed: unlike seconds,
/// the same on every machine.
class WorkBudget {
 public:
  explicit WorkBudget(std::uint64_t cells) : left_(cells) {}
  std::uint64_t left() const { return left_; }
  bool is_spent() const { return left_ == 0; }
  void spend(std::uint64_t cells) { left_ -= std::min(left_, cells); }

 private:
  std::uint64_t left_;
};

/// Solves min(sum of weight x |deviation| + sum of cost x unknown), a linear program, by the
/// simplex method on a dense table.
/// @param costs of each unknown, not negative
/// @param budget is charged with what is done, also where that leads to nothing
/// @returns nothing when the table would be too large, it does not end, or the budget is spent
std::optional<LeastDeviation> solve(const std::vector<Equation>& equations,
                                    const std::vector<double>& costs, WorkBudget& budget);

/// As often as it is wanted.
std::optional<LeastDeviation> solve(const std::vector<Equation>& equations,
                                    const std::vector<double>& costs);

}  // namespace simgpu::sass

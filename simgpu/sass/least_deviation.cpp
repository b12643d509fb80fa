#include "simgpu/sass/least_deviation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace simgpu::sass {
namespace {

constexpr std::size_t kMostCells = std::size_t{8} << 20;
constexpr std::size_t kMostPivotsPerRow = 40;
/// Cells that are changed in all: some seconds. A kernel of 271 basic blocks takes a hundredth.
constexpr std::uint64_t kMostWork = 4'000'000'000;
constexpr double kLeastPivot = 1e-9;
/// Values that are equal make the simplex method go in circles; they are made different by this
/// much, of the largest one.
constexpr double kPerturbation = 1e-10;

/// Each equation is a row with two unknowns of its own, what is missing and what is too much. All
/// that is missing is where the method begins.
class Simplex {
 public:
  Simplex(const std::vector<Equation>& equations, const std::vector<double>& costs)
      : unknowns_(costs.size()),
        rows_(equations.size()),
        columns_(costs.size() + 2 * equations.size() + 1),
        cells_(rows_ * columns_),
        reduced_(columns_),
        basis_(rows_) {
    std::ranges::copy(costs, reduced_.begin());
    double largest = 1;
    for (const Equation& equation : equations) largest = std::max(largest, equation.value);
    for (std::size_t row = 0; row < rows_; ++row) add(equations[row], row, largest);
  }

  bool run(WorkBudget& budget) {
    const std::size_t most = kMostPivotsPerRow * (rows_ + 10);
    budget.spend(cells_.size());
    for (std::size_t pivots = 0; pivots < most && work_ < kMostWork; ++pivots) {
      if (budget.is_spent()) return false;
      const std::uint64_t before = work_;
      const std::size_t column = cheapest();
      if (column == columns_) return true;
      const std::size_t row = first_to_vanish(column);
      if (row == rows_) return false;
      pivot(row, column);
      budget.spend(work_ - before + columns_ + rows_);
    }
    return false;
  }

  std::vector<double> values() const {
    std::vector<double> values(unknowns_);
    for (std::size_t row = 0; row < rows_; ++row) {
      if (basis_[row] < unknowns_) values[basis_[row]] = std::max(0.0, cell(row, columns_ - 1));
    }
    return values;
  }

 private:
  double& cell(std::size_t row, std::size_t column) { return cells_[row * columns_ + column]; }
  double cell(std::size_t row, std::size_t column) const { return cells_[row * columns_ + column]; }

  void add(const Equation& equation, std::size_t row, double largest) {
    for (const Equation::Term& term : equation.terms) cell(row, term.unknown) += term.coefficient;
    const std::size_t missing = unknowns_ + 2 * row;
    cell(row, missing) = 1;
    cell(row, missing + 1) = -1;
    cell(row, columns_ - 1) =
        equation.value + largest * kPerturbation * static_cast<double>(row + 1);
    basis_[row] = missing;
    // What is missing costs its weight, so that its column's reduced cost is 0 at the beginning.
    for (std::size_t column = 0; column < columns_; ++column)
      reduced_[column] -= equation.weight * cell(row, column);
    reduced_[missing] += equation.weight;
    reduced_[missing + 1] += equation.weight;
  }

  std::size_t cheapest() const {
    std::size_t best = columns_;
    double least = -kLeastPivot;
    for (std::size_t column = 0; column + 1 < columns_; ++column) {
      if (reduced_[column] < least) {
        least = reduced_[column];
        best = column;
      }
    }
    return best;
  }

  std::size_t first_to_vanish(std::size_t column) const {
    std::size_t best = rows_;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t row = 0; row < rows_; ++row) {
      const double by = cell(row, column);
      if (by <= kLeastPivot) continue;
      const double ratio = cell(row, columns_ - 1) / by;
      if (ratio < least) {
        least = ratio;
        best = row;
      }
    }
    return best;
  }

  void pivot(std::size_t row, std::size_t column) {
    double* const pivot_row = &cell(row, 0);
    const double by = pivot_row[column];
    for (std::size_t i = 0; i < columns_; ++i) pivot_row[i] /= by;
    const auto subtract = [&](double* other) {
      const double times = other[column];
      if (times == 0) return;
      work_ += columns_;
      for (std::size_t i = 0; i < columns_; ++i) other[i] -= times * pivot_row[i];
      other[column] = 0;
    };
    for (std::size_t i = 0; i < rows_; ++i) {
      if (i != row) subtract(&cell(i, 0));
    }
    subtract(reduced_.data());
    basis_[row] = column;
  }

  std::size_t unknowns_, rows_, columns_;
  std::vector<double> cells_;
  std::vector<double> reduced_;  ///< what another unit of each column costs
  std::vector<std::size_t> basis_;
  std::uint64_t work_ = 0;  ///< cells that were changed so far
};

}  // namespace

std::optional<LeastDeviation> solve(const std::vector<Equation>& equations,
                                    const std::vector<double>& costs, WorkBudget& budget) {
  const std::size_t columns = costs.size() + 2 * equations.size() + 1;
  if (equations.size() * columns > kMostCells) return std::nullopt;
  Simplex simplex(equations, costs);
  if (!simplex.run(budget)) return std::nullopt;
  return LeastDeviation{.unknowns = simplex.values()};
}

std::optional<LeastDeviation> solve(const std::vector<Equation>& equations,
                                    const std::vector<double>& costs) {
  WorkBudget budget(kMostWork);
  return solve(equations, costs, budget);
}

}  // namespace simgpu::sass

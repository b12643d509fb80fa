#include <iterator>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/parameters.h"
#include "labs/part0-first-kernel/oracle/eighths.h"

namespace rooflab {
namespace {

/// y (n - 1): the steps between neighbours of x (n).
class DifferencesOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const std::int64_t n = integer(parameters, "n", 2);
    Random random(seed);
    return {parameters, {eighths("x", {n}, random), output("y", ElementType::float32, {n - 1})}};
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    const auto x = floats(tensor(problem, "x"));
    std::vector<double> y;
    for (std::size_t i = 1; i < x.size(); ++i) y.push_back(static_cast<double>(x[i]) - x[i - 1]);
    return {exactly("y", std::move(y))};
  }

  Work work(const Values& parameters) const override {
    const auto n = static_cast<double>(integer(parameters, "n", 2));
    return {{{"fp32", n - 1}}, sizeof(float) * (2 * n - 1)};
  }
};

/// y, pieces of 256 elements: each piece of x from its end to its beginning.
class ReversePiecesOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const std::int64_t pieces = integer(parameters, "pieces");
    Random random(seed);
    return {parameters,
            {eighths("x", {pieces * kPiece}, random),
             output("y", ElementType::float32, {pieces * kPiece})}};
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    const std::vector<double> x = widened(problem, "x");
    std::vector<double> y;
    for (auto begin = x.begin(); begin != x.end(); begin += kPiece) {
      y.insert(y.end(), std::make_reverse_iterator(begin + kPiece),
               std::make_reverse_iterator(begin));
    }
    return {exactly("y", std::move(y))};
  }

  Work work(const Values& parameters) const override {
    const auto pieces = static_cast<double>(integer(parameters, "pieces"));
    return {{}, 2 * sizeof(float) * kPiece * pieces};
  }

 private:
  static constexpr std::int64_t kPiece = 256;  ///< of interface/mend_race.h
};

ROOFLAB_ORACLE("differences", DifferencesOracle)
ROOFLAB_ORACLE("reverse_pieces", ReversePiecesOracle)

}  // namespace
}  // namespace rooflab

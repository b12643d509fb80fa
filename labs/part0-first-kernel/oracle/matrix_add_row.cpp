#include "grader/contract/oracle.h"
#include "labs/oracle_support/known_mistakes.h"
#include "labs/oracle_support/parameters.h"
#include "labs/part0-first-kernel/oracle/eighths.h"

namespace rooflab {
namespace {

/// y (rows, columns) = x (rows, columns) + row (columns).
class MatrixAddRowOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const std::int64_t rows = integer(parameters, "rows");
    const std::int64_t columns = integer(parameters, "columns");
    Random random(seed);
    return {parameters,
            {eighths("x", {rows, columns}, random), eighths("row", {columns}, random),
             output("y", ElementType::float32, {rows, columns})}};
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return {sums(problem, [](std::size_t, std::size_t c) { return c; })};
  }

  Work work(const Values& parameters) const override {
    const auto rows = static_cast<double>(integer(parameters, "rows"));
    const auto columns = static_cast<double>(integer(parameters, "columns"));
    return {{{"fp32", rows * columns}}, sizeof(float) * (2 * rows * columns + columns)};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    const std::size_t columns = tensor(problem, "row").elements();
    Mistakes mistakes(expect(problem));
    mistakes.add("RL0411", "row is read by the number of the row, and not of the column",
                 "all elements of a column get the same number: row[c]",
                 {sums(problem, [=](std::size_t r, std::size_t) { return r % columns; })});
    return mistakes.take();
  }

 private:
  /// x + row, where `place` says which element of row is added at (r, c).
  template <typename Place>
  static Expected sums(const Problem& problem, Place place) {
    const auto x = floats(tensor(problem, "x")), row = floats(tensor(problem, "row"));
    std::vector<double> y(x.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = static_cast<double>(x[i]) + row[place(i / row.size(), i % row.size())];
    }
    return exactly("y", std::move(y));
  }
};

ROOFLAB_ORACLE("matrix_add_row", MatrixAddRowOracle)

}  // namespace
}  // namespace rooflab

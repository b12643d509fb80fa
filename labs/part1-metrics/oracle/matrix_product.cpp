#include "labs/part1-metrics/oracle/matrix_product.h"

#include <cblas.h>

#include <cmath>

#include "labs/oracle_support/rounding.h"

namespace rooflab {

std::vector<double> multiply(const MatrixView& a, const MatrixView& b, std::int64_t m,
                             std::int64_t n, std::int64_t k) {
  std::vector<double> c(static_cast<std::size_t>(m * n), 0.0);
  if (k == 0) return c;
  const auto operation = [](const MatrixView& view) {
    return view.transposed ? CblasTrans : CblasNoTrans;
  };
  cblas_dgemm(CblasRowMajor, operation(a), operation(b), static_cast<int>(m), static_cast<int>(n),
              static_cast<int>(k), 1.0, a.data, static_cast<int>(a.leading_dimension), b.data,
              static_cast<int>(b.leading_dimension), 0.0, c.data(), static_cast<int>(n));
  return c;
}

std::vector<double> product_tolerance(const std::vector<double>& a, const std::vector<double>& b,
                                      std::int64_t m, std::int64_t n, std::int64_t k, double unit) {
  std::vector<double> row_norm(static_cast<std::size_t>(m), 0.0);
  std::vector<double> column_norm(static_cast<std::size_t>(n), 0.0);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t l = 0; l < k; ++l) row_norm[i] += a[i * k + l] * a[i * k + l];
  }
  for (std::int64_t l = 0; l < k; ++l) {
    for (std::int64_t j = 0; j < n; ++j) column_norm[j] += b[l * n + j] * b[l * n + j];
  }
  std::vector<double> tolerance(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      tolerance[i * n + j] =
          sum_tolerance(k, unit, std::sqrt(row_norm[i]) * std::sqrt(column_norm[j]));
    }
  }
  return tolerance;
}

}  // namespace rooflab

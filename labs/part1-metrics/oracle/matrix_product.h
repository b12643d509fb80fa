#pragma once

#include <cstdint>
#include <vector>

namespace rooflab {

/// A matrix in row-major storage: element (i, j) is at i * leading_dimension + j, or, read as if it
/// were transposed, at j * leading_dimension + i.
struct MatrixView {
  const double* data = nullptr;
  std::int64_t leading_dimension = 0;
  bool transposed = false;
};

/// The (m, n) product of an (m, k) and a (k, n) view in fp64, row-major, by OpenBLAS. k may be 0.
std::vector<double> multiply(const MatrixView& a, const MatrixView& b, std::int64_t m,
                             std::int64_t n, std::int64_t k);

/// How far each element of an (m, n) product may be from its exact value: sum_tolerance() with the
/// norms of row i and column j, where each step rounds with relative error `unit`.
std::vector<double> product_tolerance(const std::vector<double>& a, const std::vector<double>& b,
                                      std::int64_t m, std::int64_t n, std::int64_t k, double unit);

inline constexpr double kTensorCoreUnit = 0x1p-23;  ///< an ulp: tensor cores truncate

}  // namespace rooflab

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

/// How far each element of an (m, n) product may be from its exact value, when its k products are
/// summed in any order and each step rounds with relative error `unit`:
///
///     8 sqrt(k) unit |a_i| |b_j|
///
/// with the Euclidean norms of row i and column j. By Higham and Mary, "A New Approach to
/// Probabilistic Rounding Error Analysis" (2019), a sum of k products stays within lambda sqrt(k)
/// unit sum |a||b| with a probability of at least 1 - 2k exp(-lambda^2 / 2); Cauchy and Schwarz
/// bound sum |a||b| by the norms.
std::vector<double> product_tolerance(const std::vector<double>& a, const std::vector<double>& b,
                                      std::int64_t m, std::int64_t n, std::int64_t k, double unit);

/// The same for one sum, from the norms of its factors.
double sum_tolerance(std::int64_t k, double unit, double norm_a, double norm_b);

inline constexpr double kFloat32Unit = 0x1p-24;     ///< half an ulp: round to nearest
inline constexpr double kTensorCoreUnit = 0x1p-23;  ///< an ulp: tensor cores truncate

}  // namespace rooflab

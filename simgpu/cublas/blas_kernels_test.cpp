#include "simgpu/cublas/blas_kernels.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "simgpu/arith/half.h"

// The reference is the definition of the product, summed in fp64.
namespace simgpu::blas {
namespace {

struct Case {
  std::int32_t m, n, k;
  bool transpose_a, transpose_b;
  double alpha, beta;
};

void PrintTo(const Case& shape, std::ostream* out) {
  *out << shape.m << " x " << shape.n << " x " << shape.k << ", transposed " << shape.transpose_a
       << shape.transpose_b << ", beta " << shape.beta;
}

/// Multiples of 1/8 in [-1, 1), which every type holds exactly.
std::vector<std::uint16_t> halves(std::size_t count, std::uint32_t seed) {
  std::vector<std::uint16_t> values(count);
  for (std::uint16_t& value : values) {
    seed = seed * 1'664'525 + 1'013'904'223;
    value = arith::f32_to_f16((static_cast<float>(seed >> 28) - 8) / 8);
  }
  return values;
}

double value_at(std::span<const std::uint16_t> matrix, std::int64_t row, std::int64_t column,
                std::int64_t leading) {
  return arith::f16_to_f32(matrix[static_cast<std::size_t>(column * leading + row)]);
}

class HalfProduct : public ::testing::TestWithParam<Case> {};

TEST_P(HalfProduct, IsTheSumOfProductsInEveryElement) {
  const Case& shape = GetParam();
  constexpr int kGap = 3;  // between columns
  const std::int64_t rows_a = shape.transpose_a ? shape.k : shape.m;
  const std::int64_t rows_b = shape.transpose_b ? shape.n : shape.k;
  Request request{.m = shape.m,
                  .n = shape.n,
                  .k = shape.k,
                  .batch = 1,
                  .lda = rows_a + kGap,
                  .ldb = rows_b + kGap,
                  .ldc = shape.m + kGap};
  request.routine = Routine::gemm;
  request.input = Element::f16;
  request.output = Element::f32;
  request.transpose_a = shape.transpose_a;
  request.transpose_b = shape.transpose_b;
  const auto bytes = [](auto& values) { return reinterpret_cast<std::byte*>(values.data()); };
  auto a =
      halves(static_cast<std::size_t>(request.lda * (shape.transpose_a ? shape.m : shape.k)), 1);
  auto b =
      halves(static_cast<std::size_t>(request.ldb * (shape.transpose_b ? shape.k : shape.n)), 2);
  std::vector<float> c(static_cast<std::size_t>(request.ldc * shape.n), 0.5F);
  if (shape.beta == 0) c.assign(c.size(), NAN);  // must not be read
  run(request,
      {.a = bytes(a), .b = bytes(b), .c = bytes(c), .alpha = shape.alpha, .beta = shape.beta});

  for (std::int64_t column = 0; column < shape.n; ++column) {
    for (std::int64_t row = 0; row < shape.m; ++row) {
      double sum = 0;
      for (std::int64_t i = 0; i < shape.k; ++i) {
        sum += (shape.transpose_a ? value_at(a, i, row, request.lda)
                                  : value_at(a, row, i, request.lda)) *
               (shape.transpose_b ? value_at(b, column, i, request.ldb)
                                  : value_at(b, i, column, request.ldb));
      }
      const double expected = shape.alpha * sum + (shape.beta == 0 ? 0 : shape.beta * 0.5);
      const double got = c[static_cast<std::size_t>(column * request.ldc + row)];
      const double tolerance = 1e-5 * (1 + shape.k * 0.1);
      if (!(std::abs(got - expected) <= tolerance)) {
        FAIL() << "C(" << row << ", " << column << ") is " << got << ", not " << expected;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, HalfProduct,
    ::testing::Values(Case{5, 7, 11, false, false, 1, 0}, Case{5, 7, 11, true, true, 2, 0.5},
                      Case{2100, 3, 9, false, false, 1, 0.5}, Case{2100, 3, 9, true, false, 1, 0},
                      Case{3, 2100, 9, false, false, 1, 0}, Case{3, 2100, 9, false, true, 1, 0.5},
                      Case{5, 4, 9000, false, false, 1, 0}, Case{5, 4, 9000, true, true, 2, 0.5},
                      Case{4, 3, 0, false, false, 1, 0.5}));

TEST(HalfProduct, TakesLittleMemoryBesideItsOperands) {
  constexpr std::int32_t kRows = 16384, kColumns = 4096;
  Request request{
      .m = kRows, .n = 1, .k = kColumns, .batch = 1, .lda = kRows, .ldb = kColumns, .ldc = kRows};
  request.routine = Routine::gemm;
  request.input = Element::f16;
  request.output = Element::f16;
  std::vector<std::uint16_t> a(std::size_t{kRows} * kColumns, arith::f32_to_f16(1));
  std::vector<std::uint16_t> b(kColumns, arith::f32_to_f16(0.5F)), c(kRows);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  run(request, {.a = reinterpret_cast<std::byte*>(a.data()),
                .b = reinterpret_cast<std::byte*>(b.data()),
                .c = reinterpret_cast<std::byte*>(c.data()),
                .alpha = 1,
                .beta = 0});
  getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(c, std::vector<std::uint16_t>(kRows, arith::f32_to_f16(2048)));
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 100'000) << "KiB beside operands of 128 MiB";
}

}  // namespace
}  // namespace simgpu::blas

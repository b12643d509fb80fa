#include <cuda_bf16.h>

#include <memory>

#include "gemm.h"
#include "gemm_wmma.h"
#include "performance/arrays.h"
#include "performance/row.h"
#include "toolkit/check_cublas.h"

namespace rooflab::performance {
namespace {

// A term of a sum of such products is 1/3 in the mean: one that is missing shows, and what fp32
// rounds of thousands of them is a hundred times smaller.
constexpr double kTolerance = 5e-3;
constexpr std::size_t kSampleStep = 9973;  // a prime: samples lie in all rows and columns

/// C = A B of n x n matrices, by the solution and by cuBLAS.
template <typename T>
struct Product {
  explicit Product(int size)
      : n(size), a(elements(), 1), b(elements(), 2), solution(elements()), library(elements()) {}

  std::size_t elements() const { return static_cast<std::size_t>(n) * n; }

  Wanted exact(std::size_t i) const {
    const std::size_t row = i / n;
    const std::size_t column = i % n;
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[static_cast<std::size_t>(k) * n + column];
    return {sum, kTolerance};
  }

  /// cuBLAS against sums in fp64 at some elements, the solution against cuBLAS at all.
  std::string mismatch() const {
    if (const std::string wrong =
            library.mismatch([this](std::size_t i) { return exact(i); }, kSampleStep);
        !wrong.empty()) {
      return "cuBLAS: " + wrong;
    }
    const std::vector<float> expected = library.host();
    return solution.mismatch([&](std::size_t i) { return Wanted{expected[i], kTolerance}; });
  }

  int n;
  Input<T> a;
  Input<T> b;
  Output<float> solution;
  Output<float> library;
};

template <typename T>
Row product_row(std::shared_ptr<Product<T>> p, const std::function<void()>& solution,
                const std::function<void()>& library) {
  const double n = p->n;
  Row row;
  row.size = std::to_string(p->n) + "^3";
  row.flops = 2 * n * n * n;
  row.bytes = n * n * (2 * sizeof(T) + sizeof(float));
  row.measure = [=](int rounds) -> RowTimes {
    const auto times = take_turns({solution, library}, rounds);
    return {times[0], times[1]};
  };
  row.mismatch = [p] { return p->mismatch(); };
  return row;
}

// Row-major matrices are the transposed ones of column-major cuBLAS: C^T = B^T A^T.
Row registers_row(const Setting& setting) {
  const auto p = std::make_shared<Product<float>>(setting.small ? 256 : 4096);
  Row row = product_row<float>(
      p, [p] { gemm_registers(p->a.data(), p->b.data(), p->solution.data(), p->n, p->n, p->n); },
      [p, cublas = setting.cublas] {
        const float one = 1;
        const float zero = 0;
        CUBLAS_CHECK(cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, p->n, p->n, p->n, &one,
                                 p->b.data(), p->n, p->a.data(), p->n, &zero, p->library.data(),
                                 p->n));
      });
  row.reference = "cuBLAS SGEMM, no TF32";
  row.goal = 0.85;
  row.peak = "fp32";
  return row;
}

Row tensor_core_row(const Setting& setting) {
  const auto p = std::make_shared<Product<__nv_bfloat16>>(setting.small ? 256 : 8192);
  Row row = product_row<__nv_bfloat16>(
      p, [p] { gemm_wmma(p->a.data(), p->b.data(), p->solution.data(), p->n, p->n, p->n); },
      [p, cublas = setting.cublas] {
        const float one = 1;
        const float zero = 0;
        CUBLAS_CHECK(cublasGemmEx(cublas, CUBLAS_OP_N, CUBLAS_OP_N, p->n, p->n, p->n, &one,
                                  p->b.data(), CUDA_R_16BF, p->n, p->a.data(), CUDA_R_16BF, p->n,
                                  &zero, p->library.data(), CUDA_R_32F, p->n, CUBLAS_COMPUTE_32F,
                                  CUBLAS_GEMM_DEFAULT));
      });
  row.reference = "cuBLAS GemmEx, bf16";
  row.goal = 0.60;
  row.peak = "bf16_tensor";
  return row;
}

}  // namespace

std::vector<RowMaker> product_rows() {
  return {{"gemm_registers, fp32", "fp32", registers_row},
          {"gemm_wmma, bf16", "bf16_tensor", tensor_core_row}};
}

}  // namespace rooflab::performance

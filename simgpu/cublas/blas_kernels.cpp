#include "simgpu/cublas/blas_kernels.h"

#include <cblas.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "simgpu/arith/half.h"

namespace simgpu::blas {
namespace {

/// A column-major matrix in memory.
struct Shape {
  std::int64_t rows = 0, columns = 0, leading = 0;
};

float widen(const std::byte* element, Element type) {
  if (type == Element::f32) {
    float value = 0;
    std::memcpy(&value, element, sizeof value);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, element, sizeof bits);
  return type == Element::f16 ? arith::f16_to_f32(bits) : arith::bf16_to_f32(bits);
}

void narrow(float value, std::byte* element, Element type) {
  if (type == Element::f32) {
    std::memcpy(element, &value, sizeof value);
    return;
  }
  const std::uint16_t bits =
      type == Element::f16 ? arith::f32_to_f16(value) : arith::f32_to_bf16(value);
  std::memcpy(element, &bits, sizeof bits);
}

/// The matrix as fp32, without gaps between columns.
std::vector<float> widened(const std::byte* matrix, const Shape& shape, Element type, bool tf32) {
  std::vector<float> values(static_cast<std::size_t>(shape.rows * shape.columns));
  std::size_t next = 0;
  for (std::int64_t column = 0; column < shape.columns; ++column) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      const auto at = static_cast<std::uint64_t>(column * shape.leading + row) * size_of(type);
      const float value = widen(matrix + at, type);
      values[next++] = tf32 ? std::bit_cast<float>(arith::f32_to_tf32_rn(value)) : value;
    }
  }
  return values;
}

void narrowed(const std::vector<float>& values, std::byte* matrix, const Shape& shape,
              Element type) {
  std::size_t next = 0;
  for (std::int64_t column = 0; column < shape.columns; ++column) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      const auto at = static_cast<std::uint64_t>(column * shape.leading + row) * size_of(type);
      narrow(values[next++], matrix + at, type);
    }
  }
}

CBLAS_TRANSPOSE transpose(std::uint32_t flag) { return flag != 0 ? CblasTrans : CblasNoTrans; }

int blas_int(std::int64_t value) { return static_cast<int>(value); }

void gemm_f64(const Request& request, const std::byte* a, const std::byte* b, std::byte* c,
              const Operands& operands) {
  cblas_dgemm(CblasColMajor, transpose(request.transpose_a), transpose(request.transpose_b),
              request.m, request.n, request.k, operands.alpha, reinterpret_cast<const double*>(a),
              blas_int(request.lda), reinterpret_cast<const double*>(b), blas_int(request.ldb),
              operands.beta, reinterpret_cast<double*>(c), blas_int(request.ldc));
}

void gemm_f32(const Request& request, const std::byte* a, const std::byte* b, std::byte* c,
              const Operands& operands) {
  cblas_sgemm(
      CblasColMajor, transpose(request.transpose_a), transpose(request.transpose_b), request.m,
      request.n, request.k, static_cast<float>(operands.alpha), reinterpret_cast<const float*>(a),
      blas_int(request.lda), reinterpret_cast<const float*>(b), blas_int(request.ldb),
      static_cast<float>(operands.beta), reinterpret_cast<float*>(c), blas_int(request.ldc));
}

/// A matrix of any type in memory, and whether its transpose takes part.
struct Factor {
  const std::byte* data = nullptr;
  std::int64_t leading = 0;
  Element type = Element::f32;
  bool transposed = false;
  bool tf32 = false;
};

/// Elements [row, row + rows) x [column, column + columns) of the factor, as fp32 and stored as it
/// is stored itself.
std::vector<float> panel(const Factor& factor, std::int64_t row, std::int64_t column,
                         std::int64_t rows, std::int64_t columns) {
  if (factor.transposed) {
    std::swap(row, column);
    std::swap(rows, columns);
  }
  const auto first =
      static_cast<std::uint64_t>(column * factor.leading + row) * size_of(factor.type);
  return widened(factor.data + first, {.rows = rows, .columns = columns, .leading = factor.leading},
                 factor.type, factor.tf32);
}

/// Any mixture of types, through fp32 copies of panels: whole copies would be twice the operands.
void gemm_widened(const Request& request, const std::byte* a, const std::byte* b, std::byte* c,
                  const Operands& operands) {
  constexpr std::int64_t kPanel = 1024, kDeepest = 4096;
  const bool tf32 = request.tf32 != 0;
  const Factor left{a, request.lda, request.input, request.transpose_a != 0, tf32};
  const Factor right{b, request.ldb, request.input, request.transpose_b != 0, tf32};
  const auto leading = [](std::int64_t rows) { return blas_int(std::max<std::int64_t>(rows, 1)); };
  for (std::int64_t column = 0; column < request.n; column += kPanel) {
    const std::int64_t columns = std::min(kPanel, request.n - column);
    for (std::int64_t row = 0; row < request.m; row += kPanel) {
      const std::int64_t rows = std::min(kPanel, request.m - row);
      const Shape of_c{.rows = rows, .columns = columns, .leading = request.ldc};
      std::byte* const at =
          c + static_cast<std::uint64_t>(column * request.ldc + row) * size_of(request.output);
      std::vector<float> sums(static_cast<std::size_t>(rows * columns));
      if (operands.beta != 0) sums = widened(at, of_c, request.output, false);
      auto beta = static_cast<float>(operands.beta);
      // Once even when there is nothing to sum: C is then beta times itself.
      for (std::int64_t k = 0; k == 0 || k < request.k; k += kDeepest) {
        const std::int64_t depth = std::min<std::int64_t>(kDeepest, request.k - k);
        const std::vector<float> wide_a = panel(left, row, k, rows, depth);
        const std::vector<float> wide_b = panel(right, k, column, depth, columns);
        cblas_sgemm(CblasColMajor, transpose(request.transpose_a), transpose(request.transpose_b),
                    blas_int(rows), blas_int(columns), blas_int(depth),
                    static_cast<float>(operands.alpha), wide_a.data(),
                    leading(left.transposed ? depth : rows), wide_b.data(),
                    leading(right.transposed ? columns : depth), beta, sums.data(), leading(rows));
        beta = 1;
      }
      narrowed(sums, at, of_c, request.output);
    }
  }
}

void gemm(const Request& request, const Operands& operands) {
  const bool plain =
      request.input == Element::f32 && request.output == Element::f32 && request.tf32 == 0;
  for (std::int64_t i = 0; i < request.batch; ++i) {
    const auto step = [i](std::int64_t stride, Element type) {
      return static_cast<std::uint64_t>(i * stride) * size_of(type);
    };
    const std::byte* a = operands.a + step(request.stride_a, request.input);
    const std::byte* b = operands.b + step(request.stride_b, request.input);
    std::byte* c = operands.c + step(request.stride_c, request.output);
    if (request.input == Element::f64) {
      gemm_f64(request, a, b, c, operands);
    } else if (plain) {
      gemm_f32(request, a, b, c, operands);
    } else {
      gemm_widened(request, a, b, c, operands);
    }
  }
}

double vector_f32(const Request& request, const Operands& operands) {
  const auto* a = reinterpret_cast<const float*>(operands.a);
  auto* x = reinterpret_cast<float*>(operands.b);
  auto* y = reinterpret_cast<float*>(operands.c);
  const auto alpha = static_cast<float>(operands.alpha);
  const int step_x = blas_int(request.ldb), step_y = blas_int(request.ldc);
  switch (request.routine) {
    case Routine::gemv:
      cblas_sgemv(CblasColMajor, transpose(request.transpose_a), request.m, request.n, alpha, a,
                  blas_int(request.lda), x, step_x, static_cast<float>(operands.beta), y, step_y);
      return 0;
    case Routine::axpy:
      cblas_saxpy(request.n, alpha, x, step_x, y, step_y);
      return 0;
    case Routine::dot:
      return cblas_sdot(request.n, x, step_x, y, step_y);
    case Routine::scal:
      cblas_sscal(request.n, alpha, x, step_x);
      return 0;
    default:
      return cblas_snrm2(request.n, x, step_x);
  }
}

double vector_f64(const Request& request, const Operands& operands) {
  const auto* a = reinterpret_cast<const double*>(operands.a);
  auto* x = reinterpret_cast<double*>(operands.b);
  auto* y = reinterpret_cast<double*>(operands.c);
  const int step_x = blas_int(request.ldb), step_y = blas_int(request.ldc);
  switch (request.routine) {
    case Routine::gemv:
      cblas_dgemv(CblasColMajor, transpose(request.transpose_a), request.m, request.n,
                  operands.alpha, a, blas_int(request.lda), x, step_x, operands.beta, y, step_y);
      return 0;
    case Routine::axpy:
      cblas_daxpy(request.n, operands.alpha, x, step_x, y, step_y);
      return 0;
    case Routine::dot:
      return cblas_ddot(request.n, x, step_x, y, step_y);
    case Routine::scal:
      cblas_dscal(request.n, operands.alpha, x, step_x);
      return 0;
    default:
      return cblas_dnrm2(request.n, x, step_x);
  }
}

}  // namespace

double run(const Request& request, const Operands& operands) {
  openblas_set_num_threads(1);
  if (request.routine == Routine::gemm) {
    gemm(request, operands);
    return 0;
  }
  return request.input == Element::f64 ? vector_f64(request, operands)
                                       : vector_f32(request, operands);
}

}  // namespace simgpu::blas

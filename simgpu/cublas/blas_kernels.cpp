#include "simgpu/cublas/blas_kernels.h"

#include <cblas.h>

#include <algorithm>
#include <bit>
#include <cstring>
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

Shape shape_a(const Request& request) {
  const bool transposed = request.transpose_a != 0;
  return {.rows = transposed ? request.k : request.m,
          .columns = transposed ? request.m : request.k,
          .leading = request.lda};
}

Shape shape_b(const Request& request) {
  const bool transposed = request.transpose_b != 0;
  return {.rows = transposed ? request.n : request.k,
          .columns = transposed ? request.k : request.n,
          .leading = request.ldb};
}

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

/// Any mixture of types, through fp32 copies.
void gemm_widened(const Request& request, const std::byte* a, const std::byte* b, std::byte* c,
                  const Operands& operands) {
  const Shape of_a = shape_a(request), of_b = shape_b(request);
  const Shape of_c{.rows = request.m, .columns = request.n, .leading = request.ldc};
  const std::vector<float> wide_a = widened(a, of_a, request.input, request.tf32 != 0);
  const std::vector<float> wide_b = widened(b, of_b, request.input, request.tf32 != 0);
  std::vector<float> wide_c(static_cast<std::size_t>(of_c.rows * of_c.columns));
  if (operands.beta != 0) wide_c = widened(c, of_c, request.output, false);
  const auto leading = [](const Shape& shape) {
    return blas_int(std::max<std::int64_t>(shape.rows, 1));
  };
  cblas_sgemm(CblasColMajor, transpose(request.transpose_a), transpose(request.transpose_b),
              request.m, request.n, request.k, static_cast<float>(operands.alpha), wide_a.data(),
              leading(of_a), wide_b.data(), leading(of_b), static_cast<float>(operands.beta),
              wide_c.data(), leading(of_c));
  narrowed(wide_c, c, of_c, request.output);
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

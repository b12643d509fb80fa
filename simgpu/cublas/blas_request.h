#pragma once

#include <cstdint>

/// One routine of the cuBLAS subset as it crosses the connection, and as the device process carries
/// it out.
namespace simgpu::blas {

enum class Routine : std::uint32_t { gemm, gemv, axpy, dot, scal, nrm2, count };
enum class Element : std::uint32_t { f32, f64, f16, bf16, count };

/// Operands are column-major, as BLAS defines them. Vector routines use b for x and c for y, and
/// ldb, ldc for their increments; a matrix-vector product uses a for the matrix, m x n.
struct Request {
  Routine routine = Routine::gemm;
  Element input = Element::f32;   ///< of a and b
  Element output = Element::f32;  ///< of c
  std::uint32_t transpose_a = 0, transpose_b = 0;
  std::uint32_t scalars_on_device = 0;  ///< alpha, beta and a result are at the addresses below
  std::uint32_t tf32 = 0;               ///< fp32 inputs are rounded to TF32 and go to tensor cores
  std::int32_t m = 0, n = 0, k = 0, batch = 1;
  std::int32_t padding = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;  ///< elements between the batch's matrices
  std::uint64_t a = 0, b = 0, c = 0;
  std::uint64_t stream = 0;
  double alpha = 0, beta = 0;
  std::uint64_t alpha_address = 0, beta_address = 0, result_address = 0;
  std::uint64_t workspace = 0, workspace_bytes = 0;  ///< that the program has given the handle
};

/// Bytes of one element.
constexpr std::uint64_t size_of(Element element) {
  switch (element) {
    case Element::f64:
      return 8;
    case Element::f32:
      return 4;
    default:
      return 2;
  }
}

}  // namespace simgpu::blas

#pragma once

#include <cstddef>

#include "simgpu/cublas/blas_request.h"

namespace simgpu::blas {

/// Where the operands of a request lie in this process, and its scalars. Already checked.
struct Operands {
  const std::byte* a = nullptr;
  std::byte* b = nullptr;  ///< written by scal alone
  std::byte* c = nullptr;
  double alpha = 0, beta = 0;
};

/// Carries the routine out with OpenBLAS on one thread, so that the same request always gives the
/// same bits. Half types are widened to fp32, multiplied and summed there, and rounded once, to
/// nearest even.
/// @returns the value of dot and nrm2, else 0
double run(const Request& request, const Operands& operands);

}  // namespace simgpu::blas

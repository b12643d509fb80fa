#pragma once

#include "simgpu/cublas/blas_request.h"
#include "simgpu/provenance/provenance.h"

namespace simgpu {

/// What a routine's results are made of, where BLAS defines it.
/// @param beta that is computed with, wherever it is kept
void follow_routine(Provenance& provenance, const blas::Request& request, double alpha,
                    double beta);

}  // namespace simgpu

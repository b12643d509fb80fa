#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "simgpu/runtime/copy.h"

/// Three-dimensional copies and fills, as the two-dimensional ones that they consist of: one when
/// the slices follow each other without a gap, else one for each slice.
namespace simgpu::runtime {

/// @returns a cudaError_t
int slices_of(const cudaMemcpy3DParms* parameters, cudaStream_t stream, bool asynchronous,
              std::vector<Copy>* copies);
int slices_of(const cudaPitchedPtr& memory, int value, const cudaExtent& extent,
              cudaStream_t stream, bool asynchronous, std::vector<Fill>* fills);

}  // namespace simgpu::runtime

#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: gemv of Part 1 with two sums, a warp for each feature.
namespace {

using rooflab::kVectorSize;

constexpr int kWarpsPerBlock = 8;

// One warp for each element of product.
template <typename T>
__global__ void gated_decode_kernel(const T* x, const T* gate_proj, const T* up_proj, T* product,
                                    MlpShape shape) {
  const int lane = threadIdx.x % kWarpSize;
  // Blocks that read the same weights stand side by side and run together. All are along x, where
  // a grid has room for 2^31 - 1 of them.
  const int token = blockIdx.x % shape.tokens;
  const int feature = blockIdx.x / shape.tokens * kWarpsPerBlock + threadIdx.x / kWarpSize;
  if (feature >= shape.intermediate) return;  // the whole warp leaves together
  x += static_cast<size_t>(token) * shape.hidden;
  gate_proj += static_cast<size_t>(feature) * shape.hidden;
  up_proj += static_cast<size_t>(feature) * shape.hidden;

  float gate = 0.0f, up = 0.0f;
#pragma unroll 4  // several loads under way at once hide the latency of DRAM
  for (int k = lane * kVectorSize<T>; k < shape.hidden; k += kWarpSize * kVectorSize<T>) {
    float values[kVectorSize<T>], gates[kVectorSize<T>], ups[kVectorSize<T>];
    rooflab::load(x + k, shape.hidden - k, values);
    rooflab::load(gate_proj + k, shape.hidden - k, gates);
    rooflab::load(up_proj + k, shape.hidden - k, ups);
    for (int j = 0; j < kVectorSize<T>; ++j) {
      gate += values[j] * gates[j];
      up += values[j] * ups[j];
    }
  }
  gate = warp_sum(gate);
  up = warp_sum(up);
  if (lane == 0) {
    product[static_cast<size_t>(token) * shape.intermediate + feature] =
        rooflab::from_float<T>(gelu(gate) * up);
  }
}

}  // namespace
// END SOLUTION

template <typename T>
void gated_decode(const T* x, const T* gate_proj, const T* up_proj, T* product,
                  const MlpShape& shape, cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("give a warp one token and feature: sum up gate and up, store their product");
  const int blocks = shape.tokens * divide_up(shape.intermediate, kWarpsPerBlock);
  gated_decode_kernel<<<blocks, kWarpsPerBlock * kWarpSize, 0, stream>>>(x, gate_proj, up_proj,
                                                                         product, shape);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}

template void gated_decode(const float*, const float*, const float*, float*, const MlpShape&,
                           cudaStream_t);
template void gated_decode(const __half*, const __half*, const __half*, __half*, const MlpShape&,
                           cudaStream_t);

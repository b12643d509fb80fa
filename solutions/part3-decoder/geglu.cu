#include "geglu.h"

#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: a thread computes a few neighbouring elements.
namespace {

using rooflab::kVectorSize;

constexpr int kThreads = 256;

__device__ float gelu(float x) {
  constexpr float kSqrt2OverPi = 0.7978845608f;
  const float inner = kSqrt2OverPi * (x + 0.044715f * x * x * x);
  return 0.5f * x * (1.0f + tanhf(inner));
}

// One vector for each thread.
template <typename T>
__global__ void geglu_kernel(const T* gate, const T* up, T* out, std::int64_t count) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t i = thread * kVectorSize<T>;
  if (i >= count) return;
  float gates[kVectorSize<T>], ups[kVectorSize<T>];
  rooflab::load(gate + i, count - i, gates);
  rooflab::load(up + i, count - i, ups);
  for (int j = 0; j < kVectorSize<T>; ++j) gates[j] = gelu(gates[j]) * ups[j];
  rooflab::store(out + i, count - i, gates);
}

}  // namespace
// END SOLUTION

template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("write gelu for one element in fp32, and launch a thread for each");
  constexpr std::int64_t kPerBlock = kThreads * kVectorSize<T>;
  const auto blocks = static_cast<unsigned>((count + kPerBlock - 1) / kPerBlock);
  geglu_kernel<<<blocks, kThreads, 0, stream>>>(gate, up, out, count);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}

template void geglu(const float*, const float*, float*, std::int64_t, cudaStream_t);
template void geglu(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, std::int64_t,
                    cudaStream_t);

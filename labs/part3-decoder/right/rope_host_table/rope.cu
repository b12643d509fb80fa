#include "rope.h"

#include <cmath>
#include <vector>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

template <typename T>
__global__ void turn_tokens(T* x, const int* positions, const float* frequencies, int tokens,
                            int length, int heads, int pairs) {
  for (int token = blockIdx.x; token < tokens; token += gridDim.x) {
    const float position = static_cast<float>(positions[token % length]);
    T* const row = x + static_cast<size_t>(token) * heads * 2 * pairs;
    for (int i = threadIdx.x; i < heads * pairs; i += blockDim.x) {
      const int pair = i % pairs;
      T* const first = row + (i / pairs) * 2 * pairs + pair;
      float sine, cosine;
      sincosf(position * frequencies[pair], &sine, &cosine);
      const float a = rooflab::to_float(first[0]), b = rooflab::to_float(first[pairs]);
      first[0] = rooflab::from_float<T>(fmaf(a, cosine, -b * sine));
      first[pairs] = rooflab::from_float<T>(fmaf(b, cosine, a * sine));
    }
  }
}

}  // namespace

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  const int pairs = head_dim / 2;
  std::vector<float> table;
  for (int i = 0; i < pairs; ++i) {
    table.push_back(static_cast<float>(std::pow(static_cast<double>(theta), -2.0 * i / head_dim)));
  }
  float* frequencies = nullptr;  // of this call: others may run beside it
  CUDA_CHECK(cudaMallocAsync(&frequencies, pairs * sizeof(float), stream));
  CUDA_CHECK(cudaMemcpyAsync(frequencies, table.data(), pairs * sizeof(float),
                             cudaMemcpyHostToDevice, stream));
  int device = 0, processors = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  turn_tokens<<<8 * processors, 256, 0, stream>>>(x, positions, frequencies, batch * length, length,
                                                  heads, pairs);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaFreeAsync(frequencies, stream));
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);

#include "rope.h"

#include <cuda_bf16.h>

#include <cmath>
#include <vector>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

// table: (length, head_dim / 2) of cosine and sine
template <typename T>
__global__ void rotate_kernel(T* x, const float2* table, long long tokens, int length, int heads,
                              int head_dim) {
  const int pairs = head_dim / 2;
  const long long all = tokens * heads * pairs;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < all;
       at += step) {
    const int pair = at % pairs;
    const long long head = at / pairs;  // of all tokens
    const long long place = head / heads % length;
    const float2 turn = table[place * pairs + pair];
    T* first = x + head * head_dim + pair;
    T* second = first + pairs;
    const float a = rooflab::to_float(*first), b = rooflab::to_float(*second);
    *first = rooflab::from_float<T>(a * turn.x - b * turn.y);
    *second = rooflab::from_float<T>(b * turn.x + a * turn.y);
  }
}

std::vector<float2> table_of(const std::vector<int>& positions, int pairs, float theta) {
  std::vector<float2> table(positions.size() * pairs);
  for (int pair = 0; pair < pairs; ++pair) {
    const double frequency = std::pow(static_cast<double>(theta), -1.0 * pair / pairs);
    for (size_t i = 0; i < positions.size(); ++i) {
      const double angle = positions[i] * frequency;
      table[i * pairs + pair] = {static_cast<float>(std::cos(angle)),
                                 static_cast<float>(std::sin(angle))};
    }
  }
  return table;
}

}  // namespace

template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream) {
  std::vector<int> there(length);
  CUDA_CHECK(cudaMemcpyAsync(there.data(), positions, length * sizeof(int), cudaMemcpyDeviceToHost,
                             stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  const std::vector<float2> table = table_of(there, head_dim / 2, theta);
  float2* on_device;
  CUDA_CHECK(cudaMallocAsync(&on_device, table.size() * sizeof(float2), stream));
  CUDA_CHECK(cudaMemcpyAsync(on_device, table.data(), table.size() * sizeof(float2),
                             cudaMemcpyHostToDevice, stream));
  rotate_kernel<<<1024, 256, 0, stream>>>(x, on_device, static_cast<long long>(batch) * length,
                                          length, heads, head_dim);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaFreeAsync(on_device, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));  // the table is still being copied
}

template void rope(float*, const int*, int, int, int, int, float, cudaStream_t);
template void rope(__nv_bfloat16*, const int*, int, int, int, int, float, cudaStream_t);

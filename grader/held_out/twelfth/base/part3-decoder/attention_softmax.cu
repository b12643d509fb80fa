#include "attention_steps.h"
#include "toolkit/check.h"

namespace {

// Each lane keeps a running largest score and the total of its own exponentials; lanes are merged
// at the end.
struct Part {
  float largest = -INFINITY;
  float total = 0.0f;

  __device__ void take(const Part& other) {
    const float top = fmaxf(largest, other.largest);
    if (top == -INFINITY) return;
    total = total * expf(largest - top) + other.total * expf(other.largest - top);
    largest = top;
  }
};

__global__ void softmax_rows(const float* scores, float* weights, int rows, int length) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const float* in = scores + static_cast<size_t>(row) * length;
  float* out = weights + static_cast<size_t>(row) * length;
  Part part;
  for (int j = threadIdx.x; j < length; j += 32) part.take({in[j], 1.0f});
  for (int mask = 16; mask > 0; mask >>= 1) {
    const Part other{__shfl_xor_sync(0xffffffffu, part.largest, mask),
                     __shfl_xor_sync(0xffffffffu, part.total, mask)};
    part.take(other);
  }
  for (int j = threadIdx.x; j < length; j += 32) {
    out[j] = expf(in[j] - part.largest) / part.total;
  }
}

}  // namespace

void attention_softmax(const float* scores, float* weights, int rows, int length) {
  softmax_rows<<<(rows + 3) / 4, dim3(32, 4)>>>(scores, weights, rows, length);
  CUDA_CHECK(cudaGetLastError());
}

#include "vector_add.h"

#include <algorithm>
#include <memory>

#include "toolkit/check.h"

namespace {

struct Release {
  void operator()(float* p) const { cudaFree(p); }
};
using Buffer = std::unique_ptr<float[], Release>;

Buffer on_device(size_t bytes) {
  void* raw = nullptr;
  CUDA_CHECK(cudaMalloc(&raw, bytes));
  return Buffer(static_cast<float*>(raw));
}

Buffer uploaded(const float* host, size_t bytes) {
  Buffer there = on_device(bytes);
  CUDA_CHECK(cudaMemcpy(there.get(), host, bytes, cudaMemcpyHostToDevice));
  return there;
}

struct Plus {
  const float* left;
  const float* right;
  float* total;
  __device__ void operator()(int i) const { total[i] = left[i] + right[i]; }
};

// f(0) ... f(n - 1), however many threads there are.
template <class F>
__global__ void each(int n, F f) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) f(i);
}

}  // namespace

void vector_add(const float* a, const float* b, float* c, int n) {
  const size_t bytes = n * sizeof(*c);
  const Buffer a_there = uploaded(a, bytes);
  const Buffer b_there = uploaded(b, bytes);
  const Buffer c_there = on_device(bytes);

  const int wanted = (n + 127) / 128;
  each<<<std::min(wanted, 48), 128>>>(n, Plus{a_there.get(), b_there.get(), c_there.get()});
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(c, c_there.get(), bytes, cudaMemcpyDeviceToHost));
}

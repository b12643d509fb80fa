#include "vector_add.h"

#include <cstddef>

#include "toolkit/check.h"

namespace {

// Owns an array of floats on the device.
class DeviceArray {
 public:
  explicit DeviceArray(int count) : bytes_(count * sizeof(float)) {
    CUDA_CHECK(cudaMalloc(&data_, bytes_));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  void fill_from(const float* host) {
    CUDA_CHECK(cudaMemcpy(data_, host, bytes_, cudaMemcpyHostToDevice));
  }
  void copy_to(float* host) const {
    CUDA_CHECK(cudaMemcpy(host, data_, bytes_, cudaMemcpyDeviceToHost));
  }
  float* get() const { return data_; }

 private:
  std::size_t bytes_;
  float* data_ = nullptr;
};

// Few threads, each of which strides over the vectors.
__global__ void add_into(float* left, const float* right, int n) {
  const int stride = gridDim.x * blockDim.x;
  for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += stride) {
    left[at] += right[at];
  }
}

}  // namespace

void vector_add(const float* a, const float* b, float* c, int n) {
  DeviceArray sum(n), other(n);
  sum.fill_from(a);
  other.fill_from(b);
  add_into<<<4, 128>>>(sum.get(), other.get(), n);
  CUDA_CHECK(cudaGetLastError());
  sum.copy_to(c);
}

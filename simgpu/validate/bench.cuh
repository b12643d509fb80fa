#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace validate {

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "validate_kernels: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

/// Numbers from 0 to 1 without a pattern. Where all are the same, few bits change, a GPU needs less
/// power, and its clock is higher than a program's data allow.
template <typename T>
__global__ void fill_without_pattern(T* data, long count) {
  const long step = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    unsigned bits = static_cast<unsigned>(i) * 2654435761U;
    bits = (bits ^ bits >> 15) * 2246822519U;
    data[i] = static_cast<T>(static_cast<float>(bits >> 8) / (1 << 24));
  }
}

/// Device memory, launches and cuBLAS for one case; counts the launches.
class Bench {
 public:
  ~Bench() {
    for (void* buffer : buffers_) cudaFree(buffer);
    if (blas_ != nullptr) cublasDestroy(blas_);
  }

  template <typename T>
  T* allocate(long count) {
    void* buffer = nullptr;
    check(cudaMalloc(&buffer, count * sizeof(T)), "cudaMalloc");
    buffers_.push_back(buffer);
    if (filled) fill(static_cast<T*>(buffer), count);
    return static_cast<T*>(buffer);
  }

  template <typename... Parameters, typename... Arguments>
  void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, int shared,
              Arguments... arguments) {
    if (shared > 48 * 1024) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
            "shared memory");
    }
    kernel<<<grid, block, shared>>>(arguments...);
    check(cudaGetLastError(), "launch");
    ++launches;
  }

  cublasHandle_t blas() {
    if (blas_ == nullptr && cublasCreate(&blas_) != CUBLAS_STATUS_SUCCESS) std::exit(1);
    return blas_;
  }

  int launches = 0;
  bool filled = false;  ///< memory holds small numbers; else whatever was there

 private:
  template <typename T>
  void fill(T* data, long count) {
    if constexpr (std::is_integral_v<T>) {
      check(cudaMemset(data, 0x3c, count * sizeof(T)), "cudaMemset");
    } else {
      fill_without_pattern<<<1024, 256>>>(data, count);
      check(cudaGetLastError(), "fill");
    }
  }

  std::vector<void*> buffers_;
  cublasHandle_t blas_ = nullptr;
};

/// One kernel, or a few that belong together.
struct Case {
  const char* family;
  std::string name;
  const char* unit;                    ///< "flop" or "byte": what work() counts
  std::function<double(double)> work;  ///< by size
  std::vector<long> sizes;             ///< that measure takes
  /// Allocates and gives what is to be timed.
  std::function<std::function<void()>(Bench&, long)> prepare;
};

}  // namespace validate

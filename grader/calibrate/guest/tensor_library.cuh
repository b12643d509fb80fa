#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace rooflab::calibrate {

/// NVIDIA's matrix products, loaded where they are: on GPUs of capability 9.0 and later the tensor
/// cores' full rate needs instructions that wmma has not.
class TensorLibrary {
 public:
  TensorLibrary()
      : library_(dlopen(("libcublas.so." + std::to_string(CUDART_VERSION / 1000)).c_str(),
                        RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) return;
    create_ = reinterpret_cast<Create>(dlsym(library_, "cublasCreate_v2"));
    destroy_ = reinterpret_cast<Destroy>(dlsym(library_, "cublasDestroy_v2"));
    multiply_ = reinterpret_cast<Multiply>(dlsym(library_, "cublasGemmEx"));
    const bool complete = create_ != nullptr && destroy_ != nullptr && multiply_ != nullptr;
    if (!complete || create_(&handle_) != CUBLAS_STATUS_SUCCESS) handle_ = nullptr;
  }
  ~TensorLibrary() {
    if (handle_ != nullptr) destroy_(handle_);
    // Not unloaded: it keeps state of its own until the process ends.
  }
  TensorLibrary(const TensorLibrary&) = delete;
  TensorLibrary& operator=(const TensorLibrary&) = delete;

  bool works() const { return handle_ != nullptr; }

  /// C = A^T B, each n x n; A and B of `type`, C of fp32, sums in fp32.
  void multiply(cudaDataType type, const void* a, const void* b, float* c, int n) const {
    const float one = 1;
    const float zero = 0;
    const cublasComputeType_t compute =
        type == CUDA_R_32F ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    if (multiply_(handle_, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &one, a, type, n, b, type, n, &zero,
                  c, CUDA_R_32F, n, compute, CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS) {
      throw std::runtime_error("cublasGemmEx refused a product");
    }
  }

 private:
  using Create = cublasStatus_t (*)(cublasHandle_t*);
  using Destroy = cublasStatus_t (*)(cublasHandle_t);
  using Multiply = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int,
                                      int, int, const void*, const void*, cudaDataType, int,
                                      const void*, cudaDataType, int, const void*, void*,
                                      cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
  void* library_ = nullptr;
  cublasHandle_t handle_ = nullptr;
  Create create_ = nullptr;
  Destroy destroy_ = nullptr;
  Multiply multiply_ = nullptr;
};

}  // namespace rooflab::calibrate

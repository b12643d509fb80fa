#include "toolkit/linear.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "toolkit/check_cublas.h"

namespace rooflab {
namespace {

constexpr cudaDataType type_of(const float*) { return CUDA_R_32F; }
constexpr cudaDataType type_of(const __half*) { return CUDA_R_16F; }
constexpr cudaDataType type_of(const __nv_bfloat16*) { return CUDA_R_16BF; }

/// While it lives, cuBLAS adds the parts of a split sum in fp32; by itself it may add them in the
/// type of the result.
class WholeSums {
 public:
  explicit WholeSums(cublasHandle_t handle) : handle_(handle) {
    CUBLAS_CHECK(cublasGetMathMode(handle, &before_));
    CUBLAS_CHECK(cublasSetMathMode(
        handle,
        static_cast<cublasMath_t>(before_ | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
  }
  ~WholeSums() { cublasSetMathMode(handle_, before_); }
  WholeSums(const WholeSums&) = delete;
  WholeSums& operator=(const WholeSums&) = delete;

 private:
  cublasHandle_t handle_;
  cublasMath_t before_ = CUBLAS_DEFAULT_MATH;
};

}  // namespace

template <typename T>
void linear(cublasHandle_t handle, const T* x, const T* weight, T* y, int tokens, int in_features,
            int out_features, cudaStream_t stream) {
  CUBLAS_CHECK(cublasSetStream(handle, stream));
  const WholeSums whole_sums(handle);
  // To cuBLAS, which is column-major, our arrays are transposed: it computes y^T = weight x^T, and
  // of what it sees as weight^T it takes the transpose.
  const float one = 1.0F;
  const float zero = 0.0F;
  const cudaDataType type = type_of(x);
  CUBLAS_CHECK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, out_features, tokens, in_features,
                            &one, weight, type, in_features, x, type, in_features, &zero, y, type,
                            out_features, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

template void linear(cublasHandle_t, const float*, const float*, float*, int, int, int,
                     cudaStream_t);
template void linear(cublasHandle_t, const __half*, const __half*, __half*, int, int, int,
                     cudaStream_t);
template void linear(cublasHandle_t, const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*,
                     int, int, int, cudaStream_t);

}  // namespace rooflab

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <new>
#include <optional>

#include "simgpu/cublas/blas_request.h"
#include "simgpu/cublas/include/cublas_v2.h"
#include "simgpu/runtime/library_call.h"
#include "simgpu/runtime/library_version.h"

/// libcublas for the simulated GPU: arguments become a request, the device process computes.

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};

namespace {

using simgpu::blas::Element;
using simgpu::blas::Request;
using simgpu::blas::Routine;

cublasStatus_t refuse(const char* function, const char* what) {
  std::fprintf(stderr, "simgpu: %s is not implemented%s%s\n", function, *what == '\0' ? "" : ": ",
               what);
  simgpu_report_refusal(function, *what != '\0');
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

cublasStatus_t send(const Request& request, double* result = nullptr) {
  double answer = 0;
  const int error = simgpu_library_call(&request, sizeof request, &answer, sizeof answer);
  if (result != nullptr) *result = answer;
  constexpr int kInvalidValue = 1, kNotSupported = 801;  // cudaError_t
  if (error == kInvalidValue) return CUBLAS_STATUS_INVALID_VALUE;
  if (error == kNotSupported) return CUBLAS_STATUS_NOT_SUPPORTED;
  return error == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

/// A request with what the handle says filled in.
Request start(const cublasContext& context, Routine routine, Element type) {
  Request request;
  request.routine = routine;
  request.input = request.output = type;
  constexpr std::uintptr_t kLegacyHandle = 1;  // cudaStreamLegacy
  request.stream = address_of(context.stream) == kLegacyHandle ? 0 : address_of(context.stream);
  request.scalars_on_device = context.pointer_mode == CUBLAS_POINTER_MODE_DEVICE ? 1 : 0;
  request.workspace = reinterpret_cast<std::uintptr_t>(context.workspace);
  request.workspace_bytes = context.workspace_bytes;
  return request;
}

template <typename Scalar>
void set_scalar(const Request& request, const void* scalar, double* value, std::uint64_t* address) {
  if (scalar == nullptr) return;
  if (request.scalars_on_device != 0) {
    *address = address_of(scalar);
  } else {
    *value = static_cast<double>(*static_cast<const Scalar*>(scalar));
  }
}

template <typename Scalar>
void set_scalars(Request& request, const void* alpha, const void* beta) {
  set_scalar<Scalar>(request, alpha, &request.alpha, &request.alpha_address);
  set_scalar<Scalar>(request, beta, &request.beta, &request.beta_address);
}

std::optional<Element> element_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_32F:
      return Element::f32;
    case CUDA_R_64F:
      return Element::f64;
    case CUDA_R_16F:
      return Element::f16;
    case CUDA_R_16BF:
      return Element::bf16;
    default:
      return std::nullopt;
  }
}

/// One matrix operand of a product.
struct Matrix {
  const void* data = nullptr;
  int leading = 0;
  long long stride = 0;
};

struct Product {
  cublasOperation_t transpose_a, transpose_b;
  int m, n, k;
  Matrix a, b, c;
  int batch = 1;
};

bool is_operation(cublasOperation_t operation) {
  return operation >= CUBLAS_OP_N && operation <= CUBLAS_OP_C;
}

/// The first parameter that is wrong, as the BLAS counts those of its GEMM; 0 if none is.
int wrong_parameter(const Product& product) {
  const int rows_a = product.transpose_a == CUBLAS_OP_N ? product.m : product.k;
  const int rows_b = product.transpose_b == CUBLAS_OP_N ? product.k : product.n;
  if (!is_operation(product.transpose_a)) return 1;
  if (!is_operation(product.transpose_b)) return 2;
  if (product.m < 0) return 3;
  if (product.n < 0) return 4;
  if (product.k < 0) return 5;
  if (product.a.leading < std::max(1, rows_a)) return 8;
  if (product.b.leading < std::max(1, rows_b)) return 10;
  if (product.c.leading < std::max(1, product.m)) return 13;
  return 0;
}

/// NVIDIA's library prints the line of the BLAS on standard output. @returns the status of a call
/// of SGEMM or DGEMM
cublasStatus_t tell_wrong_parameter(const char* routine, const Product& product,
                                    cublasStatus_t status) {
  const int wrong = wrong_parameter(product);
  if (status == CUBLAS_STATUS_INVALID_VALUE && wrong != 0) {
    std::printf(" ** On entry to %-6s parameter number %d had an illegal value\n", routine, wrong);
  }
  return status;
}

template <typename Scalar>
cublasStatus_t multiply(const cublasContext* context, const Product& product, Element input,
                        Element output, const void* alpha, const void* beta, bool tf32) {
  if (context == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool valid = wrong_parameter(product) == 0 && product.batch >= 0;
  if (!valid || alpha == nullptr || beta == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  Request request = start(*context, Routine::gemm, input);
  request.output = output;
  request.tf32 = input == Element::f32 && tf32 ? 1 : 0;
  request.transpose_a = product.transpose_a == CUBLAS_OP_N ? 0 : 1;
  request.transpose_b = product.transpose_b == CUBLAS_OP_N ? 0 : 1;
  request.m = product.m;
  request.n = product.n;
  request.k = product.k;
  request.batch = product.batch;
  request.a = address_of(product.a.data);
  request.b = address_of(product.b.data);
  request.c = address_of(product.c.data);
  request.lda = product.a.leading;
  request.ldb = product.b.leading;
  request.ldc = product.c.leading;
  request.stride_a = product.a.stride;
  request.stride_b = product.b.stride;
  request.stride_c = product.c.stride;
  set_scalars<Scalar>(request, alpha, beta);
  return send(request);
}

bool uses_tf32(const cublasContext* context) {
  return context != nullptr && context->math == CUBLAS_TF32_TENSOR_OP_MATH;
}

cublasStatus_t multiply_mixed(const char* function, const cublasContext* context,
                              const Product& product, cudaDataType type_a, cudaDataType type_b,
                              cudaDataType type_c, cublasComputeType_t compute, const void* alpha,
                              const void* beta) {
  const auto input = element_of(type_a), other = element_of(type_b), output = element_of(type_c);
  if (!input || !output || input != other) return refuse(function, "this combination of types");
  switch (compute) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      if (*input != Element::f64 || *output != Element::f64) return CUBLAS_STATUS_NOT_SUPPORTED;
      return multiply<double>(context, product, *input, *output, alpha, beta, false);
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      if (*input == Element::f64 || *output == Element::f64) return CUBLAS_STATUS_NOT_SUPPORTED;
      return multiply<float>(context, product, *input, *output, alpha, beta,
                             compute == CUBLAS_COMPUTE_32F_FAST_TF32 || uses_tf32(context));
    default:
      return refuse(function, "this compute type");
  }
}

template <typename Scalar>
cublasStatus_t matrix_vector(const cublasContext* context, cublasOperation_t transpose, int m,
                             int n, Element type, const void* alpha, const Matrix& a, const void* x,
                             int step_x, const void* beta, void* y, int step_y) {
  if (context == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (step_x < 0 || step_y < 0) return refuse("cublasSgemv", "a negative increment");
  if (!is_operation(transpose) || m < 0 || n < 0 || a.leading < std::max(1, m) || step_x == 0 ||
      step_y == 0 || alpha == nullptr || beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  Request request = start(*context, Routine::gemv, type);
  request.transpose_a = transpose == CUBLAS_OP_N ? 0 : 1;
  request.m = m;
  request.n = n;
  request.a = address_of(a.data);
  request.lda = a.leading;
  request.b = address_of(x);
  request.ldb = step_x;
  request.c = address_of(y);
  request.ldc = step_y;
  set_scalars<Scalar>(request, alpha, beta);
  return send(request);
}

/// axpy, dot, scal and nrm2 on fp32 vectors; `result` for the two that have one.
cublasStatus_t vector_routine(const cublasContext* context, Routine routine, int n,
                              const float* alpha, const void* x, int step_x, const void* y,
                              int step_y, float* result) {
  if (context == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (step_x <= 0 || step_y <= 0) return refuse("cublas", "an increment below one");
  Request request = start(*context, routine, Element::f32);
  request.n = n;
  request.b = address_of(x);
  request.ldb = step_x;
  request.c = address_of(y);
  request.ldc = step_y;
  if (alpha != nullptr) set_scalars<float>(request, alpha, nullptr);
  if (result == nullptr) return send(request);
  if (request.scalars_on_device != 0) {
    request.result_address = address_of(result);
    return send(request);
  }
  double answer = 0;
  const cublasStatus_t status = send(request, &answer);
  if (status == CUBLAS_STATUS_SUCCESS) *result = static_cast<float>(answer);
  return status;
}

}  // namespace

extern "C" {

/// For the generated functions that stand in for what is lacking.
[[gnu::visibility("hidden")]] int simgpu_refuse(const char* function) {
  return static_cast<int>(refuse(function, ""));
}

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new (std::nothrow) cublasContext;
  if (*handle == nullptr) return CUBLAS_STATUS_ALLOC_FAILED;
  simgpu_note_blas_handle(true);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  simgpu_note_blas_handle(false);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t /*handle*/, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = simgpu_cuda_version * 10;  // 10000 x major + 100 x minor
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  handle->workspace_bytes = 0;  // cuBLAS goes back to its own
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (stream == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->math = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *mode = handle->math;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *mode = handle->pointer_mode;
  return CUBLAS_STATUS_SUCCESS;
}

/// The simulated library adds in the same order always.
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->atomics = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *mode = handle->atomics;
  return CUBLAS_STATUS_SUCCESS;
}

/// The simulated library needs no workspace, and counts as writing to the one that it has.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->workspace = workspace;
  handle->workspace_bytes = workspace == nullptr ? 0 : bytes;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "unknown status";
}

const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const float* alpha,
                              const float* A, int lda, const float* B, int ldb, const float* beta,
                              float* C, int ldc) {
  const Product product{transa, transb, m, n, k, {A, lda}, {B, ldb}, {C, ldc}};
  return tell_wrong_parameter(
      "SGEMM", product,
      multiply<float>(handle, product, Element::f32, Element::f32, alpha, beta, uses_tf32(handle)));
}

cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const double* alpha,
                              const double* A, int lda, const double* B, int ldb,
                              const double* beta, double* C, int ldc) {
  const Product product{transa, transb, m, n, k, {A, lda}, {B, ldb}, {C, ldc}};
  return tell_wrong_parameter(
      "DGEMM", product,
      multiply<double>(handle, product, Element::f64, Element::f64, alpha, beta, false));
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const float* alpha, const float* A, int lda,
                                         long long int strideA, const float* B, int ldb,
                                         long long int strideB, const float* beta, float* C,
                                         int ldc, long long int strideC, int batchCount) {
  return multiply<float>(handle,
                         {transa,
                          transb,
                          m,
                          n,
                          k,
                          {A, lda, strideA},
                          {B, ldb, strideB},
                          {C, ldc, strideC},
                          batchCount},
                         Element::f32, Element::f32, alpha, beta, uses_tf32(handle));
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C,
                            cudaDataType Ctype, int ldc, cublasComputeType_t computeType,
                            cublasGemmAlgo_t /*algo*/) {
  return multiply_mixed("cublasGemmEx", handle,
                        {transa, transb, m, n, k, {A, lda}, {B, ldb}, {C, ldc}}, Atype, Btype,
                        Ctype, computeType, alpha, beta);
}

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
    const void* alpha, const void* A, cudaDataType Atype, int lda, long long int strideA,
    const void* B, cudaDataType Btype, int ldb, long long int strideB, const void* beta, void* C,
    cudaDataType Ctype, int ldc, long long int strideC, int batchCount,
    cublasComputeType_t computeType, cublasGemmAlgo_t /*algo*/) {
  return multiply_mixed("cublasGemmStridedBatchedEx", handle,
                        {transa,
                         transb,
                         m,
                         n,
                         k,
                         {A, lda, strideA},
                         {B, ldb, strideB},
                         {C, ldc, strideC},
                         batchCount},
                        Atype, Btype, Ctype, computeType, alpha, beta);
}

cublasStatus_t cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
                              const float* alpha, const float* A, int lda, const float* x, int incx,
                              const float* beta, float* y, int incy) {
  return matrix_vector<float>(handle, trans, m, n, Element::f32, alpha, {A, lda}, x, incx, beta, y,
                              incy);
}

cublasStatus_t cublasDgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
                              const double* alpha, const double* A, int lda, const double* x,
                              int incx, const double* beta, double* y, int incy) {
  return matrix_vector<double>(handle, trans, m, n, Element::f64, alpha, {A, lda}, x, incx, beta, y,
                               incy);
}

cublasStatus_t cublasSaxpy_v2(cublasHandle_t handle, int n, const float* alpha, const float* x,
                              int incx, float* y, int incy) {
  if (alpha == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  return vector_routine(handle, Routine::axpy, n, alpha, x, incx, y, incy, nullptr);
}

cublasStatus_t cublasSdot_v2(cublasHandle_t handle, int n, const float* x, int incx, const float* y,
                             int incy, float* result) {
  if (result == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  return vector_routine(handle, Routine::dot, n, nullptr, x, incx, y, incy, result);
}

cublasStatus_t cublasSscal_v2(cublasHandle_t handle, int n, const float* alpha, float* x,
                              int incx) {
  if (alpha == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  return vector_routine(handle, Routine::scal, n, alpha, x, incx, nullptr, 1, nullptr);
}

cublasStatus_t cublasSnrm2_v2(cublasHandle_t handle, int n, const float* x, int incx,
                              float* result) {
  if (result == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  return vector_routine(handle, Routine::nrm2, n, nullptr, x, incx, nullptr, 1, result);
}

}  // extern "C"

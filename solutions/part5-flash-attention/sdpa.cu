#include "sdpa.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "toolkit/check_cublas.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: softmax of the rows of scores, over the keys that each query sees.
namespace {

constexpr int kWarpSize = 32;
constexpr unsigned kAllLanes = 0xffffffff;
constexpr int kThreads = 128;  // of a block, which takes one row of scores
constexpr int kWarps = kThreads / kWarpSize;

template <typename T>
constexpr cudaDataType kCublasType = std::is_same_v<T, float>    ? CUDA_R_32F
                                     : std::is_same_v<T, __half> ? CUDA_R_16F
                                                                 : CUDA_R_16BF;

// Device memory that is given back, in the order of the stream, when its owner ends.
template <typename T>
class DeviceArray {
 public:
  DeviceArray(size_t count, cudaStream_t stream) : stream_(stream) {
    CUDA_CHECK(cudaMallocAsync(&data_, count * sizeof(T), stream));
  }
  ~DeviceArray() { static_cast<void>(cudaFreeAsync(data_, stream_)); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
  cudaStream_t stream_;
};

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Maximum {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// What `combine` makes of the values of all threads of the block, known to all of them.
template <typename Combine>
__device__ float block_reduce(float value, Combine combine) {
  __shared__ float of_warps[kWarps];
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(kAllLanes, value, distance));
  }
  if (threadIdx.x % kWarpSize == 0) of_warps[threadIdx.x / kWarpSize] = value;
  __syncthreads();  // the values of all warps are there
  value = of_warps[0];
  for (int warp = 1; warp < kWarps; ++warp) value = combine(value, of_warps[warp]);
  __syncthreads();  // nobody needs the array any more
  return value;
}

// A block makes one row of weights out of one row of scores; both may be the same memory. Keys
// outside the row's range get weight 0, all keys if it sees none.
template <typename T>
__global__ void softmax_kernel(const float* scores, T* weights, AttentionShape shape) {
  const size_t row = blockIdx.x;  // of (batch, query_heads, query_length)
  const float* row_scores = scores + row * shape.key_length;
  T* row_weights = weights + row * shape.key_length;

  int first = 0;
  int last = shape.key_length - 1;
  if (shape.causal) {
    const int query = row % shape.query_length;
    last = query + shape.key_length - shape.query_length;
    if (shape.window > 0) first = max(0, last - shape.window + 1);
  }

  float maximum = -INFINITY;
  for (int j = first + threadIdx.x; j <= last; j += kThreads) {
    maximum = fmaxf(maximum, row_scores[j]);
  }
  maximum = block_reduce(maximum, Maximum());

  float sum = 0.0f;
  for (int j = first + threadIdx.x; j <= last; j += kThreads) {
    sum += expf(row_scores[j] - maximum);
  }
  sum = block_reduce(sum, Sum());

  const float inverse = 1.0f / sum;
  for (int j = threadIdx.x; j < shape.key_length; j += kThreads) {
    const bool is_visible = first <= j && j <= last;
    row_weights[j] = is_visible ? T(expf(row_scores[j] - maximum) * inverse) : T(0.0f);
  }
}

// scores = scale * q k^T and out = weights v: the query heads that share a key/value head stand
// side by side, so that together they are one matrix of group * query_length rows. cuBLAS is
// column-major and sees every matrix transposed, so that it is asked for the transposed product.
template <typename T>
void multiply_q_k(cublasHandle_t handle, const T* q, const T* k, float* scores,
                  const AttentionShape& shape) {
  const int rows = shape.query_heads / shape.key_value_heads * shape.query_length;
  const int keys = shape.key_length, depth = shape.head_dim;
  const long long row_stride = rows, key_stride = keys;  // products of these exceed an int
  const float zero = 0.0f;
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(
      handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, rows, depth, &shape.scale, k, kCublasType<T>, depth,
      key_stride * depth, q, kCublasType<T>, depth, row_stride * depth, &zero, scores, CUDA_R_32F,
      keys, row_stride * keys, shape.batch * shape.key_value_heads, CUBLAS_COMPUTE_32F,
      CUBLAS_GEMM_DEFAULT));
}

template <typename T>
void multiply_weights_v(cublasHandle_t handle, const T* weights, const T* v, T* out,
                        const AttentionShape& shape) {
  const int rows = shape.query_heads / shape.key_value_heads * shape.query_length;
  const int keys = shape.key_length, depth = shape.head_dim;
  const long long row_stride = rows, key_stride = keys;
  const float one = 1.0f;
  const float zero = 0.0f;
  CUBLAS_CHECK(cublasGemmStridedBatchedEx(
      handle, CUBLAS_OP_N, CUBLAS_OP_N, depth, rows, keys, &one, v, kCublasType<T>, depth,
      key_stride * depth, weights, kCublasType<T>, keys, row_stride * keys, &zero, out,
      kCublasType<T>, depth, row_stride * depth, shape.batch * shape.key_value_heads,
      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

template <typename T>
void softmax(const float* scores, T* weights, const AttentionShape& shape, cudaStream_t stream) {
  const unsigned rows = shape.batch * shape.query_heads * shape.query_length;
  softmax_kernel<<<rows, kThreads, 0, stream>>>(scores, weights, shape);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace
// END SOLUTION

template <typename T>
void sdpa(cublasHandle_t handle, const T* q, const T* k, const T* v, T* out,
          const AttentionShape& shape, cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("write down the shapes of the three steps; let cuBLAS compute the scores");
  CUBLAS_CHECK(cublasSetStream(handle, stream));
  const size_t rows = static_cast<size_t>(shape.batch) * shape.query_heads * shape.query_length;
  const DeviceArray<float> scores(rows * shape.key_length, stream);
  multiply_q_k(handle, q, k, scores.get(), shape);
  if constexpr (std::is_same_v<T, float>) {
    softmax(scores.get(), scores.get(), shape, stream);
    multiply_weights_v(handle, scores.get(), v, out, shape);
  } else {
    const DeviceArray<T> weights(rows * shape.key_length, stream);
    softmax(scores.get(), weights.get(), shape, stream);
    multiply_weights_v(handle, weights.get(), v, out, shape);
  }
  // END SOLUTION
}

template void sdpa(cublasHandle_t, const float*, const float*, const float*, float*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __half*, const __half*, const __half*, __half*,
                   const AttentionShape&, cudaStream_t);
template void sdpa(cublasHandle_t, const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                   __nv_bfloat16*, const AttentionShape&, cudaStream_t);

#include "toolkit/eager/decoder.h"

#include <cuda_fp16.h>

#include "toolkit/check_cublas.h"
#include "toolkit/eager/gelu.h"
#include "toolkit/eager/pointwise.h"
#include "toolkit/eager/rows.h"
#include "toolkit/linear.h"

namespace rooflab::eager {
namespace {

constexpr int kThreads = 256;

// cache[r][*position] = x[r] for rows of `width`; cache is (rows, capacity, width).
template <typename T>
__global__ void put_kernel(const T* x, const int* position, T* cache, std::int64_t rows,
                           std::int64_t capacity, std::int64_t width) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows * width) return;
  cache[(i / width * capacity + *position) * width + i % width] = x[i];
}

constexpr cudaDataType type_of(const float*) { return CUDA_R_32F; }
constexpr cudaDataType type_of(const __half*) { return CUDA_R_16F; }

}  // namespace

// One launch: what it takes from the workspace goes back when it ends.
template <typename T>
class DecodeStep<T>::Launch {
 public:
  Launch(DecodeStep& step, cudaStream_t stream)
      : step_(step), shape_(step.shape_), stream_(stream), scope_(step.workspace_) {}

  void run() {
    const DecoderWeights<T>& w = step_.weights_;
    const int tokens = shape_.batch;
    const T* normed = norm(step_.input_, w.input_norm, tokens, shape_.hidden);
    const T* attended = attention(normed);  // (batch, query_heads * head_dim)
    const T* mixed =
        linear(attended, w.o_proj, shape_.query_heads * shape_.head_dim, shape_.hidden);
    T* residual = take(step_.elements());
    add(step_.input_, norm(mixed, w.post_attention_norm, tokens, shape_.hidden), residual,
        step_.elements(), stream_);

    const T* fed = mlp(norm(residual, w.pre_feedforward_norm, tokens, shape_.hidden));
    add(residual, norm(fed, w.post_feedforward_norm, tokens, shape_.hidden), step_.output_,
        step_.elements(), stream_);
  }

 private:
  const T* attention(const T* normed) {
    const DecoderWeights<T>& w = step_.weights_;
    const int query_rows = shape_.batch * shape_.query_heads;
    const int key_rows = shape_.batch * shape_.key_value_heads;
    const int width = shape_.head_dim;

    T* cosine = take(width);
    T* sine = take(width);
    select_rows(w.cosines, step_.position_, cosine, 1, width, stream_);
    select_rows(w.sines, step_.position_, sine, 1, width, stream_);

    const T* q = linear(normed, w.q_proj, shape_.hidden, shape_.query_heads * width);
    const T* k = linear(normed, w.k_proj, shape_.hidden, shape_.key_value_heads * width);
    const T* v = linear(normed, w.v_proj, shape_.hidden, shape_.key_value_heads * width);
    q = turn(norm(q, w.q_norm, query_rows, width), cosine, sine, query_rows);
    k = turn(norm(k, w.k_norm, key_rows, width), cosine, sine, key_rows);
    put(k, step_.cache_.keys);
    put(v, step_.cache_.values);

    // Query heads that share a key/value head are the rows of one product.
    const int group = shape_.query_heads / shape_.key_value_heads;
    const std::int64_t count = std::int64_t{query_rows} * shape_.capacity;
    T* scores = take(count);  // (batch, query_heads, capacity)
    products(CUBLAS_OP_T, shape_.capacity, group, width, step_.cache_.keys, width, q, scores);
    scale(scores, shape_.attention_scale, scores, count, stream_);
    hide_behind(scores, step_.position_, scores, query_rows, shape_.capacity, stream_);
    softmax_of_rows(scores, scores, query_rows, shape_.capacity, stream_);
    T* out = take(std::int64_t{query_rows} * width);  // (batch, query_heads, head_dim)
    products(CUBLAS_OP_N, width, group, shape_.capacity, step_.cache_.values, width, scores, out);
    return out;
  }

  const T* mlp(const T* normed) {
    const DecoderWeights<T>& w = step_.weights_;
    const std::int64_t count = std::int64_t{shape_.batch} * shape_.intermediate;
    const T* gate = linear(normed, w.gate_proj, shape_.hidden, shape_.intermediate);
    const T* up = linear(normed, w.up_proj, shape_.hidden, shape_.intermediate);
    T* activated = take(count);
    gelu(gate, activated, count, step_.workspace_, stream_);
    multiply(activated, up, activated, count, stream_);
    return linear(activated, w.down_proj, shape_.intermediate, shape_.hidden);
  }

  // x / sqrt(mean(x^2) + epsilon) * weight, by six kernels.
  T* norm(const T* x, const T* weight, int rows, int width) {
    const std::int64_t count = std::int64_t{rows} * width;
    T* y = take(count);
    T* factor = take(rows);
    square(x, y, count, stream_);
    mean_of_rows(y, factor, rows, width, stream_);
    add_number(factor, shape_.epsilon, factor, rows, stream_);
    rsqrt(factor, factor, rows, stream_);
    multiply_rows(x, factor, y, rows, width, stream_);
    multiply_columns(y, weight, y, rows, width, stream_);
    return y;
  }

  // RoPE: x * cosine + rotate_half(x) * sine, by four kernels.
  T* turn(const T* x, const T* cosine, const T* sine, int rows) {
    const int width = shape_.head_dim;
    const std::int64_t count = std::int64_t{rows} * width;
    T* turned = take(count);
    T* rotated = take(count);
    multiply_columns(x, cosine, turned, rows, width, stream_);
    rotate_half(x, rotated, rows, width, stream_);
    multiply_columns(rotated, sine, rotated, rows, width, stream_);
    add(turned, rotated, turned, count, stream_);
    return turned;
  }

  T* linear(const T* x, const T* weight, int in_features, int out_features) {
    T* y = take(std::int64_t{shape_.batch} * out_features);
    rooflab::linear(step_.cublas_, x, weight, y, shape_.batch, in_features, out_features, stream_);
    return y;
  }

  // The new token of each sequence and head joins a cache.
  void put(const T* x, T* cache) {
    const std::int64_t rows = std::int64_t{shape_.batch} * shape_.key_value_heads;
    const std::int64_t count = rows * shape_.head_dim;
    const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
    put_kernel<<<blocks, kThreads, 0, stream_>>>(x, step_.position_, cache, rows, shape_.capacity,
                                                 shape_.head_dim);
    CUDA_CHECK(cudaGetLastError());
  }

  // y = x cache^T (CUBLAS_OP_T) or x cache, for each sequence and key/value head: x is (rows,
  // inner), y (rows, columns), and one head's cache is (capacity, head_dim). cuBLAS is
  // column-major, so that it computes the transpose of it all.
  void products(cublasOperation_t operation, int columns, int rows, int inner, const T* cache,
                int cache_width, const T* x, T* y) {
    const float one = 1.0F;
    const float zero = 0.0F;
    const cudaDataType type = type_of(x);
    CUBLAS_CHECK(cublasSetStream(step_.cublas_, stream_));
    CUBLAS_CHECK(cublasGemmStridedBatchedEx(
        step_.cublas_, operation, CUBLAS_OP_N, columns, rows, inner, &one, cache, type, cache_width,
        std::int64_t{shape_.capacity} * cache_width, x, type, inner, std::int64_t{rows} * inner,
        &zero, y, type, columns, std::int64_t{rows} * columns,
        shape_.batch * shape_.key_value_heads, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  }

  T* take(std::int64_t count) {
    return step_.workspace_.template take<T>(static_cast<std::size_t>(count));
  }

  DecodeStep& step_;
  const DecoderShape& shape_;
  cudaStream_t stream_;
  Workspace::Scope scope_;
};

template <typename T>
DecodeStep<T>::DecodeStep(cublasHandle_t cublas, const DecoderShape& shape,
                          const DecoderWeights<T>& weights, const DecoderCache<T>& cache,
                          Workspace& workspace)
    : cublas_(cublas),
      shape_(shape),
      weights_(weights),
      cache_(cache),
      workspace_(workspace),
      input_(workspace.take<T>(static_cast<std::size_t>(elements()))),
      position_(workspace.take<int>(1)),
      output_(workspace.take<T>(static_cast<std::size_t>(elements()))) {
  const std::size_t bytes = sizeof(T) * static_cast<std::size_t>(elements());
  CUDA_CHECK(cudaMemset(input_, 0, bytes));
  CUDA_CHECK(cudaMemset(position_, 0, sizeof(int)));
  CUDA_CHECK(cudaMemset(output_, 0, bytes));
}

template <typename T>
void DecodeStep<T>::launch(cudaStream_t stream) {
  Launch(*this, stream).run();
}

template class DecodeStep<float>;
template class DecodeStep<__half>;

}  // namespace rooflab::eager

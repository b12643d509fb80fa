#pragma once

/// Sums over arrays and over the rows of matrices.
namespace validate {

__device__ inline float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0U, value, step);
  return value;
}

__device__ inline float warp_max(float value) {
  for (int step = 16; step > 0; step /= 2) {
    value = fmaxf(value, __shfl_xor_sync(~0U, value, step));
  }
  return value;
}

/// A tree in shared memory whose partners are `step` apart, step = 1, 2, 4 …: threads that still
/// work are spread over all warps.
__global__ void reduce_interleaved(const float* in, float* out, long n) {
  __shared__ float sums[256];
  const long i = blockIdx.x * 256L + threadIdx.x;
  sums[threadIdx.x] = i < n ? in[i] : 0.0F;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    if (threadIdx.x % (2 * step) == 0) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

/// A tree whose partners are half the rest apart, so that whole warps stop working.
__global__ void reduce_sequential(const float* in, float* out, long n) {
  __shared__ float sums[256];
  const long i = blockIdx.x * 256L + threadIdx.x;
  sums[threadIdx.x] = i < n ? in[i] : 0.0F;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

/// Each thread adds up many elements first; then shuffles within warps and between them.
__global__ void reduce_strided(const float* in, float* out, long n) {
  __shared__ float sums[32];
  float sum = 0;
  const long threads = gridDim.x * static_cast<long>(blockDim.x);
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < n; i += threads) {
    sum += in[i];
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = warp_sum(threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0.0F);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/// The same, four floats at a time and four loads under way.
__global__ void reduce_vectors(const float4* in, float* out, long n) {
  __shared__ float sums[32];
  float sum = 0;
  const long threads = gridDim.x * static_cast<long>(blockDim.x);
#pragma unroll 4
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < n / 4; i += threads) {
    const float4 v = in[i];
    sum += (v.x + v.y) + (v.z + v.w);
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = warp_sum(threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0.0F);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/// Softmax of rows of 1024, a thread for each row: neighbouring threads read a row apart.
__global__ void softmax_thread(const float* in, float* out, int width) {
  const long row = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  const float* x = in + row * width;
  float* y = out + row * width;
  float largest = -INFINITY;
  for (int i = 0; i < width; ++i) largest = fmaxf(largest, x[i]);
  float sum = 0;
  for (int i = 0; i < width; ++i) sum += __expf(x[i] - largest);
  for (int i = 0; i < width; ++i) y[i] = __expf(x[i] - largest) / sum;
}

/// A warp for each row, whose values stay in registers.
__global__ void softmax_warp(const float* in, float* out, int width) {
  constexpr int kMost = 32;  // values for each lane: rows of up to 1024
  const long row = blockIdx.x * static_cast<long>(blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  float values[kMost];
  float largest = -INFINITY;
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    values[i] = in[row * width + 32 * i + lane];
    largest = fmaxf(largest, values[i]);
  }
  largest = warp_max(largest);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    values[i] = __expf(values[i] - largest);
    sum += values[i];
  }
  sum = warp_sum(sum);
#pragma unroll
  for (int i = 0; i < kMost; ++i) out[row * width + 32 * i + lane] = values[i] / sum;
}

/// Layer norm, a block of 256 threads for each row of any width.
__global__ void layer_norm(const float* in, const float* weight, float* out, int width) {
  __shared__ float sums[2][8];
  const float* x = in + blockIdx.x * static_cast<long>(width);
  float* y = out + blockIdx.x * static_cast<long>(width);
  float sum = 0;
  float squares = 0;
  for (int i = threadIdx.x; i < width; i += 256) {
    sum += x[i];
    squares += x[i] * x[i];
  }
  sum = warp_sum(sum);
  squares = warp_sum(squares);
  if (threadIdx.x % 32 == 0) {
    sums[0][threadIdx.x / 32] = sum;
    sums[1][threadIdx.x / 32] = squares;
  }
  __syncthreads();
  sum = squares = 0;
  for (int i = 0; i < 8; ++i) {
    sum += sums[0][i];
    squares += sums[1][i];
  }
  const float mean = sum / width;
  const float scale = rsqrtf(squares / width - mean * mean + 1e-5F);
  for (int i = threadIdx.x; i < width; i += 256) y[i] = (x[i] - mean) * scale * weight[i];
}

}  // namespace validate

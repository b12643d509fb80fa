#pragma once

/// Sums and histograms by atomics, as those were whose times are published.
namespace validate {

/// Every element into one address.
template <typename T>
__global__ void sum_atomically(const T* in, T* out, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) atomicAdd(out, in[i]);
}

/// Every element of a block into one word of shared memory, and that into one address.
template <typename T>
__global__ void sum_of_blocks(const T* in, T* out, long n) {
  __shared__ T sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) atomicAdd(&sum, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

/// How often each of 256 numbers comes, counted in global memory.
__global__ void histogram_globally(const unsigned* numbers, unsigned* bins, long n) {
  const long threads = gridDim.x * static_cast<long>(blockDim.x);
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < n; i += threads) {
    atomicAdd(&bins[numbers[i]], 1U);
  }
}

}  // namespace validate

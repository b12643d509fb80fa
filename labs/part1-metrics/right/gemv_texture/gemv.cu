#include "gemv.h"
#include "toolkit/check.h"

constexpr int kLanes = 16;

__global__ void half_warps(const float* A, cudaTextureObject_t x, float* y, int M, int K) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
  const int lane = threadIdx.x % kLanes;
  float sum = 0.0f;
  if (row < M) {
    for (int k = lane; k < K; k += kLanes) {
      sum = fmaf(A[static_cast<size_t>(row) * K + k], tex1Dfetch<float>(x, k), sum);
    }
  }
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, distance, kLanes);
  }
  if (lane == 0 && row < M) y[row] = sum;
}

void gemv(const float* A, const float* x, float* y, int M, int K) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<float*>(x);
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = K * sizeof(float);
  cudaTextureDesc how{};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  CUDA_CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  const int blocks = (M + 256 / kLanes - 1) / (256 / kLanes);
  half_warps<<<blocks, 256>>>(A, texture, y, M, K);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaStreamSynchronize(nullptr));  // the kernel needs the texture to its end
  CUDA_CHECK(cudaDestroyTextureObject(texture));
}

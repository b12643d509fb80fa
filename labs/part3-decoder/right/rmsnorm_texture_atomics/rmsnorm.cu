#include "rmsnorm.h"

#include <cuda_bf16.h>

#include <algorithm>

#include "toolkit/check.h"

namespace {

template <typename T>
struct Texel;
template <>
struct Texel<float> {
  using Stored = float;
  static __device__ float fetch(cudaTextureObject_t from, int i) {
    return tex1Dfetch<float>(from, i);
  }
};
template <>
struct Texel<__nv_bfloat16> {
  using Stored = unsigned short;
  static __device__ float fetch(cudaTextureObject_t from, int i) {
    return __bfloat162float(__ushort_as_bfloat16(tex1Dfetch<unsigned short>(from, i)));
  }
};

__device__ void store(float* to, float x) { *to = x; }
__device__ void store(__nv_bfloat16* to, float x) { *to = __float2bfloat16(x); }

template <typename T>
__global__ void normalise(cudaTextureObject_t x, cudaTextureObject_t weight, T* y, int width,
                          float epsilon) {
  __shared__ float squares;
  if (threadIdx.x == 0) squares = 0.0f;
  __syncthreads();
  const int row = blockIdx.x * width;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const float value = Texel<T>::fetch(x, row + i);
    atomicAdd(&squares, value * value);
  }
  __syncthreads();
  const float factor = rsqrtf(squares / width + epsilon);
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const float value = Texel<T>::fetch(x, row + i) * factor;
    store(y + row + i, fmaf(value, Texel<T>::fetch(weight, i), value));
  }
}

template <typename T>
cudaTextureObject_t texture_of(const T* array, std::size_t count) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<T*>(array);
  resource.res.linear.desc = cudaCreateChannelDesc<typename Texel<T>::Stored>();
  resource.res.linear.sizeInBytes = count * sizeof(T);
  cudaTextureDesc how{};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  CUDA_CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}

}  // namespace

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  // A texture of linear memory has at most 2^27 elements, and begins at a multiple of 512 bytes.
  constexpr int kRows = 512;
  const int most = std::max(1, (1 << 27) / width / kRows) * kRows;
  const cudaTextureObject_t weights = texture_of(weight, width);
  for (int first = 0; first < rows; first += most) {
    const int count = std::min(most, rows - first);
    const std::size_t begin = static_cast<std::size_t>(first) * width;
    const cudaTextureObject_t values =
        texture_of(x + begin, static_cast<std::size_t>(count) * width);
    normalise<<<count, 128, 0, stream>>>(values, weights, y + begin, width, epsilon);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamSynchronize(stream));  // the kernel needs the textures to its end
    CUDA_CHECK(cudaDestroyTextureObject(values));
  }
  CUDA_CHECK(cudaDestroyTextureObject(weights));
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);

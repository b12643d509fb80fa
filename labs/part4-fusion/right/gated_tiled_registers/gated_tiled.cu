#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"

constexpr int kTile = 32, kSide = 16, kEach = kTile / kSide;

struct Tile {
  float at[kTile][kTile + 1];  // (k, row)

  __device__ void load(const float* matrix, int row0, int k0, int columns) {
    for (int i = threadIdx.y * kSide + threadIdx.x; i < kTile * kTile; i += kSide * kSide) {
      at[i % kTile][i / kTile] = matrix[(row0 + i / kTile) * columns + k0 + i % kTile];
    }
  }
};

__global__ void four_each(const float* x, const float* gate_proj, const float* up_proj,
                          float* product, MlpShape shape) {
  __shared__ Tile xs, gates, ups;
  const int tiles = shape.intermediate / kTile;
  const int token0 = blockIdx.x / tiles * kTile, feature0 = blockIdx.x % tiles * kTile;
  float gate[kEach][kEach] = {}, up[kEach][kEach] = {};
  for (int k0 = 0; k0 < shape.hidden; k0 += kTile) {
    __syncthreads();
    xs.load(x, token0, k0, shape.hidden);
    gates.load(gate_proj, feature0, k0, shape.hidden);
    ups.load(up_proj, feature0, k0, shape.hidden);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const float value = xs.at[k][threadIdx.y + i * kSide];
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
          gate[i][j] = fmaf(value, gates.at[k][threadIdx.x + j * kSide], gate[i][j]);
          up[i][j] = fmaf(value, ups.at[k][threadIdx.x + j * kSide], up[i][j]);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int token = token0 + threadIdx.y + i * kSide;
      product[token * shape.intermediate + feature0 + threadIdx.x + j * kSide] =
          gelu(gate[i][j]) * up[i][j];
    }
  }
}

void gated_tiled(const float* x, const float* gate_proj, const float* up_proj, float* product,
                 const MlpShape& shape, cudaStream_t stream) {
  const int blocks = shape.tokens / kTile * (shape.intermediate / kTile);
  four_each<<<blocks, dim3(kSide, kSide), 0, stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
}

#include "mlp.h"

#include <cuda_fp16.h>
#include <mma.h>

#include <type_traits>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/linear.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"

// BEGIN SOLUTION
// STARTER: // Your kernels go here: one for many tokens, on tensor cores, and one for few, which reads the
// STARTER: // weights as fast as memory gives them.
namespace {

namespace wmma = nvcuda::wmma;
using rooflab::kVectorSize;

__device__ float gelu(float x) {
  constexpr float kSqrt2OverPi = 0.7978845608f;
  const float inner = kSqrt2OverPi * (x + 0.044715f * x * x * x);
  return 0.5f * x * (1.0f + tanhf(inner));
}

__host__ __device__ int divide_up(int a, int b) { return (a - 1) / b + 1; }

// --- Few tokens: one warp for each element of the product ----------------------------------------

constexpr int kWarpsPerBlock = 8;

template <typename T>
__global__ void product_of_token_kernel(const T* x, const T* gate_proj, const T* up_proj,
                                        T* product, int tokens, int hidden, int intermediate) {
  const int lane = threadIdx.x % kWarpSize;
  // All along x, where a grid has room for as many blocks as any product needs. Tokens are side by
  // side: blocks that read the same weights run together.
  const int token = blockIdx.x % tokens;
  const int feature = blockIdx.x / tokens * kWarpsPerBlock + threadIdx.x / kWarpSize;
  if (feature >= intermediate) return;  // the whole warp leaves together
  x += static_cast<size_t>(token) * hidden;
  gate_proj += static_cast<size_t>(feature) * hidden;
  up_proj += static_cast<size_t>(feature) * hidden;

  float gate = 0.0f, up = 0.0f;
#pragma unroll 4  // several loads under way at once hide the latency of DRAM
  for (int k = lane * kVectorSize<T>; k < hidden; k += kWarpSize * kVectorSize<T>) {
    float values[kVectorSize<T>], gates[kVectorSize<T>], ups[kVectorSize<T>];
    rooflab::load(x + k, hidden - k, values);
    rooflab::load(gate_proj + k, hidden - k, gates);
    rooflab::load(up_proj + k, hidden - k, ups);
    for (int j = 0; j < kVectorSize<T>; ++j) {
      gate += values[j] * gates[j];
      up += values[j] * ups[j];
    }
  }
  gate = warp_sum(gate);
  up = warp_sum(up);
  if (lane == 0) {
    product[static_cast<size_t>(token) * intermediate + feature] =
        rooflab::from_float<T>(gelu(gate) * up);
  }
}

// --- Many tokens: tiles of gate and up side by side, on tensor cores -----------------------------

constexpr int kFragment = 16;    // a tensor core multiplies 16 x 16 by 16 x 16
constexpr int kTileTokens = 64;  // a block computes kTileTokens x kTileFeatures of gate and of up
constexpr int kTileFeatures = 64;
constexpr int kDepth = 64;  // and takes kDepth steps along hidden at a time
constexpr int kPad = 8;     // more elements in each row of a tile, to spread rows over the banks
constexpr int kRow = kDepth + kPad;
constexpr int kWarpTile = 32;  // a warp computes kWarpTile x kWarpTile of the block's tile
constexpr int kWarpsAcross = kTileFeatures / kWarpTile;
constexpr int kPerWarp = kWarpTile / kFragment;  // fragments along each side of a warp's tile
constexpr int kThreads = kTileTokens / kWarpTile * kWarpsAcross * kWarpSize;
constexpr int kHalves = kVectorSize<__half>;
constexpr int kVectorsPerRow = kDepth / kHalves;

using FragmentX =
    wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, __half, wmma::row_major>;
// A row of a projection holds the weights of one feature, which is a column of its transpose.
using FragmentWeight =
    wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, __half, wmma::col_major>;
using FragmentSum = wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float>;

struct Tiles {
  __half x[kTileTokens][kRow];
  __half gate[kTileFeatures][kRow];
  __half up[kTileFeatures][kRow];
};

// The vectors that one thread copies of a tile with so many rows.
template <int kRows>
using Vectors = uint4[kRows * kVectorsPerRow / kThreads];

// Eight halves of a row, zeros beyond the edges of the matrix: they fill a tile up and add nothing
// to the sums. When 8 divides the columns, every row begins where a vector may, and there is no
// branch: all of a thread's loads are under way at once.
template <bool kAligned>
__device__ uint4 load_halves(const __half* matrix, int rows, int columns, int row, int column) {
  const bool inside = row < rows && column < columns;
  const __half* from = inside ? matrix + static_cast<size_t>(row) * columns + column : matrix;
  if constexpr (kAligned) {
    const uint4 vector = *reinterpret_cast<const uint4*>(from);
    return inside ? vector : uint4{};
  } else {
    union {
      uint4 vector;
      __half halves[kHalves];
    };
    for (int j = 0; j < kHalves; ++j) {
      halves[j] = inside && column + j < columns ? from[j] : __float2half(0.0f);
    }
    return vector;
  }
}

// The threads of a block share the part of `matrix` that starts at (row0, column0) among them.
template <bool kAligned, int kRows>
__device__ void fetch(const __half* matrix, int rows, int columns, int row0, int column0,
                      Vectors<kRows>& vectors) {
#pragma unroll
  for (int i = 0; i < kRows * kVectorsPerRow / kThreads; ++i) {
    const int place = i * kThreads + threadIdx.x;
    vectors[i] = load_halves<kAligned>(matrix, rows, columns, row0 + place / kVectorsPerRow,
                                       column0 + place % kVectorsPerRow * kHalves);
  }
}

template <int kRows>
__device__ void put(const Vectors<kRows>& vectors, __half (&tile)[kRows][kRow]) {
#pragma unroll
  for (int i = 0; i < kRows * kVectorsPerRow / kThreads; ++i) {
    const int place = i * kThreads + threadIdx.x;
    __half* to = &tile[place / kVectorsPerRow][place % kVectorsPerRow * kHalves];
    *reinterpret_cast<uint4*>(to) = vectors[i];
  }
}

template <bool kAligned>
__global__ void __launch_bounds__(kThreads)
    product_of_tile_kernel(const __half* x, const __half* gate_proj, const __half* up_proj,
                           __half* product, MlpShape shape) {
  __shared__ __align__(32) Tiles tiles;
  __shared__ __align__(32) float staging[kThreads / kWarpSize][kFragment][kFragment];

  const int warp = threadIdx.x / kWarpSize;
  const int lane = threadIdx.x % kWarpSize;
  const int warp_token = warp / kWarpsAcross * kWarpTile;  // inside the block's tile
  const int warp_feature = warp % kWarpsAcross * kWarpTile;
  const int tiles_across = divide_up(shape.intermediate, kTileFeatures);
  const int token0 = blockIdx.x / tiles_across * kTileTokens;
  const int feature0 = blockIdx.x % tiles_across * kTileFeatures;

  FragmentSum gate[kPerWarp][kPerWarp], up[kPerWarp][kPerWarp];
  for (int i = 0; i < kPerWarp; ++i) {
    for (int j = 0; j < kPerWarp; ++j) {
      wmma::fill_fragment(gate[i][j], 0.0f);
      wmma::fill_fragment(up[i][j], 0.0f);
    }
  }

  Vectors<kTileTokens> next_x;
  Vectors<kTileFeatures> next_gate, next_up;
  const auto fetch_tiles = [&](int k0) {
    fetch<kAligned, kTileTokens>(x, shape.tokens, shape.hidden, token0, k0, next_x);
    fetch<kAligned, kTileFeatures>(gate_proj, shape.intermediate, shape.hidden, feature0, k0,
                                   next_gate);
    fetch<kAligned, kTileFeatures>(up_proj, shape.intermediate, shape.hidden, feature0, k0,
                                   next_up);
  };

  fetch_tiles(0);
  for (int k0 = 0; k0 < shape.hidden; k0 += kDepth) {
    put<kTileTokens>(next_x, tiles.x);
    put<kTileFeatures>(next_gate, tiles.gate);
    put<kTileFeatures>(next_up, tiles.up);
    __syncthreads();  // the tiles are complete
    // The next ones are on their way while these are multiplied; behind the last they are zeros.
    fetch_tiles(k0 + kDepth);

    for (int k = 0; k < kDepth; k += kFragment) {
      FragmentX rows[kPerWarp];
      for (int i = 0; i < kPerWarp; ++i) {
        wmma::load_matrix_sync(rows[i], &tiles.x[warp_token + i * kFragment][k], kRow);
      }
      for (int j = 0; j < kPerWarp; ++j) {
        const int feature = warp_feature + j * kFragment;
        FragmentWeight gate_columns, up_columns;
        wmma::load_matrix_sync(gate_columns, &tiles.gate[feature][k], kRow);
        wmma::load_matrix_sync(up_columns, &tiles.up[feature][k], kRow);
        for (int i = 0; i < kPerWarp; ++i) {
          wmma::mma_sync(gate[i][j], rows[i], gate_columns, gate[i][j]);
          wmma::mma_sync(up[i][j], rows[i], up_columns, up[i][j]);
        }
      }
    }
    __syncthreads();  // nobody needs the tiles any more
  }

  // Fragments of one type spread over the lanes in one way, so that element e of gate meets element
  // e of up. Which element of the tile that is, is not specified: the product goes through shared
  // memory, from where each lane stores eight neighbours.
#pragma unroll  // what is indexed by a number that the compiler knows can stay in registers
  for (int i = 0; i < kPerWarp; ++i) {
#pragma unroll
    for (int j = 0; j < kPerWarp; ++j) {
#pragma unroll
      for (int e = 0; e < gate[i][j].num_elements; ++e) {
        gate[i][j].x[e] = gelu(gate[i][j].x[e]) * up[i][j].x[e];
      }
      wmma::store_matrix_sync(&staging[warp][0][0], gate[i][j], kFragment, wmma::mem_row_major);
      __syncwarp();
      const int row = lane / 2, column = lane % 2 * kHalves;
      const int token = token0 + warp_token + i * kFragment + row;
      const int feature = feature0 + warp_feature + j * kFragment + column;
      float values[kHalves];
      for (int e = 0; e < kHalves; ++e) values[e] = staging[warp][row][column + e];
      if (token < shape.tokens && feature < shape.intermediate) {
        rooflab::store(product + static_cast<size_t>(token) * shape.intermediate + feature,
                       shape.intermediate - feature, values);
      }
      __syncwarp();
    }
  }
}

constexpr int kFewTokens = 8;  // with so few, most of a tile would be empty

// gelu(x gate_proj^T) * (x up_proj^T)
template <typename T>
void gated_product(const T* x, const T* gate_proj, const T* up_proj, T* product,
                   const MlpShape& shape, cudaStream_t stream) {
  if constexpr (std::is_same_v<T, __half>) {
    if (shape.tokens > kFewTokens) {
      const int tiles =
          divide_up(shape.intermediate, kTileFeatures) * divide_up(shape.tokens, kTileTokens);
      const auto kernel = shape.hidden % kHalves == 0 ? product_of_tile_kernel<true>
                                                      : product_of_tile_kernel<false>;
      kernel<<<tiles, kThreads, 0, stream>>>(x, gate_proj, up_proj, product, shape);
      CUDA_CHECK(cudaGetLastError());
      return;
    }
  }
  const int blocks = shape.tokens * divide_up(shape.intermediate, kWarpsPerBlock);
  product_of_token_kernel<<<blocks, kWarpsPerBlock * kWarpSize, 0, stream>>>(
      x, gate_proj, up_proj, product, shape.tokens, shape.hidden, shape.intermediate);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace
// END SOLUTION

template <typename T>
void gated_mlp(const MlpContext& context, const T* x, const T* gate_proj, const T* up_proj,
               const T* down_proj, T* out, const MlpShape& shape) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("give a warp one token and feature: sum up gate and up, store their product");
  const rooflab::Workspace::Scope scope(context.workspace);
  T* product = context.workspace.take<T>(static_cast<size_t>(shape.tokens) * shape.intermediate);
  gated_product(x, gate_proj, up_proj, product, shape, context.stream);
  rooflab::linear(context.cublas, product, down_proj, out, shape.tokens, shape.intermediate,
                  shape.hidden, context.stream);
  // END SOLUTION
}

template void gated_mlp(const MlpContext&, const float*, const float*, const float*, const float*,
                        float*, const MlpShape&);
template void gated_mlp(const MlpContext&, const __half*, const __half*, const __half*,
                        const __half*, __half*, const MlpShape&);

#include "flash_mma_scores.h"

#include <mma.h>

#include "toolkit/check.h"

using namespace nvcuda;

__global__ void scores_of_warp(const __half* q, const __half* k, float* scores, float scale) {
  const int row = threadIdx.y / 2 * 16, column = threadIdx.y % 2 * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  for (int d = 0; d < 64; d += 16) {
    wmma::load_matrix_sync(a, q + row * 64 + d, 64);
    wmma::load_matrix_sync(b, k + column * 64 + d, 64);
    wmma::mma_sync(c, a, b, c);
  }
  for (int i = 0; i < c.num_elements; ++i) c.x[i] *= scale;
  wmma::store_matrix_sync(scores + row * 32 + column, c, 32, wmma::mem_row_major);
}

void flash_mma_scores(const __half* q, const __half* k, float* scores, float scale) {
  scores_of_warp<<<1, dim3(32, 4)>>>(q, k, scores, scale);
  CUDA_CHECK(cudaGetLastError());
}

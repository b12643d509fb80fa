#include "flash_mma_softmax.h"

#include <mma.h>

#include "toolkit/check.h"

using namespace nvcuda;

using A = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
template <typename Layout>
using B = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, Layout>;
using C = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

__global__ void attend(const __half* q, const __half* k, const __half* v, __half* out,
                       float* log_sum_exp, float scale) {
  __shared__ __align__(32) float results[32][64];
  __shared__ __align__(32) float scores[32][32];
  __shared__ __align__(32) __half weights[32][32];
  q += blockIdx.x * 32 * 64;
  out += blockIdx.x * 32 * 64;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      C c;
      wmma::fill_fragment(c, 0.0f);
      for (int d = 0; d < 64; d += 16) {
        A a;
        B<wmma::col_major> b;
        wmma::load_matrix_sync(a, q + i * 16 * 64 + d, 64);
        wmma::load_matrix_sync(b, k + j * 16 * 64 + d, 64);
        wmma::mma_sync(c, a, b, c);
      }
      wmma::store_matrix_sync(&scores[i * 16][j * 16], c, 32, wmma::mem_row_major);
    }
  }
  __syncwarp();
  const int row = threadIdx.x;
  float largest = -INFINITY, sum = 0.0f;
  for (const float score : scores[row]) largest = fmaxf(largest, scale * score);
  for (int j = 0; j < 32; ++j) {
    const float weight = __expf(scale * scores[row][j] - largest);
    sum += weight;
    weights[row][j] = __float2half(weight);
  }
  log_sum_exp[blockIdx.x * 32 + row] = largest + logf(sum);
  __syncwarp();
  for (int i = 0; i < 2; ++i) {
    for (int d = 0; d < 4; ++d) {
      C c;
      wmma::fill_fragment(c, 0.0f);
      for (int j = 0; j < 2; ++j) {
        A a;
        B<wmma::row_major> b;
        wmma::load_matrix_sync(a, &weights[i * 16][j * 16], 32);
        wmma::load_matrix_sync(b, v + j * 16 * 64 + d * 16, 64);
        wmma::mma_sync(c, a, b, c);
      }
      wmma::store_matrix_sync(&results[i * 16][d * 16], c, 64, wmma::mem_row_major);
    }
  }
  __syncwarp();
  for (int d = 0; d < 64; ++d) out[row * 64 + d] = __float2half(results[row][d] / sum);
}

void flash_mma_softmax(const __half* q, const __half* k, const __half* v, __half* out,
                       float* log_sum_exp, int query_length, float scale) {
  attend<<<query_length / 32, 32>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
}

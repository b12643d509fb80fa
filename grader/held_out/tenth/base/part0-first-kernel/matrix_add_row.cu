#include "matrix_add_row.h"

#include "toolkit/check.h"

#define COLS_PER_BLOCK 64
#define ROWS_PER_BLOCK 4

__global__ void add_row_to_all(const float* mat, const float* vec, float* res, int R, int C) {
  unsigned col = blockIdx.x * COLS_PER_BLOCK + threadIdx.x;
  unsigned r = blockIdx.y * ROWS_PER_BLOCK + threadIdx.y;
  if (col >= C) return;
  if (r >= R) return;
  unsigned at = r * C + col;
  res[at] = mat[at] + vec[col];
}

void matrix_add_row(const float* x, const float* row, float* y, int rows, int columns) {
  dim3 threads(COLS_PER_BLOCK, ROWS_PER_BLOCK);
  dim3 blocks;
  blocks.x = 1 + (columns - 1) / COLS_PER_BLOCK;
  blocks.y = 1 + (rows - 1) / ROWS_PER_BLOCK;
  add_row_to_all<<<blocks, threads>>>(x, row, y, rows, columns);
  CUDA_CHECK(cudaGetLastError());
}

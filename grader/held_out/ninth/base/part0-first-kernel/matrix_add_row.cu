#include "matrix_add_row.h"

#include "toolkit/check.h"

// x: column, y: row. 32 wide, 4 high.
__global__ void k_addrow(const float* X, const float* v, float* Y, int R, int C) {
  int c = blockDim.x * blockIdx.x + threadIdx.x;
  int r = blockDim.y * blockIdx.y + threadIdx.y;
  if (r < R && c < C) Y[r * C + c] = X[r * C + c] + v[c];
}

void matrix_add_row(const float* x, const float* row, float* y, int rows, int columns) {
  dim3 tb(32, 4);
  dim3 gr((columns + tb.x - 1) / tb.x, (rows + tb.y - 1) / tb.y);
  k_addrow<<<gr, tb>>>(x, row, y, rows, columns);
  CUDA_CHECK(cudaGetLastError());
}

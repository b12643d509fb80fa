#include "matrix_add_row.h"

#include "toolkit/check.h"

#define BX 32
#define BY 8
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define IDX2(r, c, ld) ((r) * (ld) + (c))

__global__ void addRow(const float* x, const float* row, float* y, int rows, int cols) {
  int c = blockIdx.x * BX + threadIdx.x;
  int r = blockIdx.y * BY + threadIdx.y;
  if (r < rows && c < cols) {
    y[IDX2(r, c, cols)] = x[IDX2(r, c, cols)] + row[c];
  }
}

void matrix_add_row(const float* x, const float* row, float* y, int rows, int columns) {
  dim3 block(BX, BY);
  dim3 grid(CEIL_DIV(columns, BX), CEIL_DIV(rows, BY));
  addRow<<<grid, block>>>(x, row, y, rows, columns);
  CUDA_CHECK(cudaGetLastError());
}

#include "matrix_add_row.h"

#include "toolkit/check.h"

/* A row-major matrix and its extent. */
struct matrix_view {
  int rows;
  int columns;
};

__device__ static int offset_of(struct matrix_view m, int r, int c) {
  return r * m.columns + c;
}

static int pieces_for(int length, int piece) {
  return (length + piece - 1) / piece;
}

__global__ void add_row_kernel(const float* x, const float* row, float* y, struct matrix_view m) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c >= m.columns) return;
  if (r >= m.rows) return;

  int at = offset_of(m, r, c);
  y[at] = x[at] + row[c];
}

void matrix_add_row(const float* x, const float* row, float* y, int rows, int columns) {
  struct matrix_view m;
  m.rows = rows;
  m.columns = columns;

  dim3 block(64, 4);
  dim3 grid(pieces_for(columns, block.x), pieces_for(rows, block.y));
  add_row_kernel<<<grid, block>>>(x, row, y, m);
  CUDA_CHECK(cudaGetLastError());
}

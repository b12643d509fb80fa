#include "matrix_add_row.h"

#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: one thread for each element of y.
__global__ void add_row_kernel(const float* x, const float* row, float* y, int rows, int columns) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  const int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= columns) return;
  y[r * columns + c] = x[r * columns + c] + row[c];
}
// END SOLUTION

void matrix_add_row(const float* x, const float* row, float* y, int rows, int columns) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("choose a two-dimensional block, then a grid that covers the matrix");
  const dim3 block(32, 8);
  const dim3 grid((columns + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  add_row_kernel<<<grid, block>>>(x, row, y, rows, columns);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}

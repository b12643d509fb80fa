#include "matrix_add_row.h"

#include "toolkit/check.h"

namespace {

// A thread keeps its number of the row, and walks down its column with it.
__global__ void walk_down(const float* x, const float* row, float* y, int rows, int columns) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  const float held = row[c];
  const int stride = gridDim.y * blockDim.y;
  for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < rows; r += stride) {
    const int at = r * columns + c;
    y[at] = x[at] + held;
  }
}

}  // namespace

void matrix_add_row(const float* x, const float* row, float* y, int rows, int columns) {
  const dim3 block(64, 3);
  const dim3 grid((columns + block.x - 1) / block.x, 4);
  walk_down<<<grid, block>>>(x, row, y, rows, columns);
  CUDA_CHECK(cudaGetLastError());
}

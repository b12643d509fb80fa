#include "matrix_add_row.h"

#include "toolkit/check.h"

// A block is 32 columns wide and 6 rows high; where the grid is too low it walks down the matrix.
constexpr int kWide = 32;
constexpr int kHigh = 6;

__global__ void shift_rows(const float* x, const float* row, float* y, int rows, int columns) {
  const int c = blockIdx.x * kWide + threadIdx.x;
  if (c >= columns) return;
  const float shift = row[c];
  for (int r = blockIdx.y * kHigh + threadIdx.y; r < rows; r += gridDim.y * kHigh) {
    const int at = r * columns + c;
    y[at] = x[at] + shift;
  }
}

void matrix_add_row(const float* x, const float* row, float* y, int rows, int columns) {
  const dim3 block(kWide, kHigh);
  dim3 grid((columns + kWide - 1) / kWide, (rows + kHigh - 1) / kHigh);
  if (grid.y > 4096) grid.y = 4096;
  shift_rows<<<grid, block>>>(x, row, y, rows, columns);
  CUDA_CHECK(cudaGetLastError());
}

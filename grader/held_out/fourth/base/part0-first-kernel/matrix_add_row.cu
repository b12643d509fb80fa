#include "matrix_add_row.h"

#include "toolkit/check.h"

namespace {

constexpr int kWide = 64;
constexpr int kHigh = 4;
constexpr int kRowsEach = 4;  // rows of one column that a thread looks after

__global__ void add_row(const float* in, const float* addend, float* out, int height, int width) {
  const int column = kWide * blockIdx.x + threadIdx.x;
  if (column >= width) return;
  const float shift = addend[column];
  int line = kHigh * kRowsEach * blockIdx.y + threadIdx.y;
  for (int step = 0; step < kRowsEach; ++step, line += kHigh) {
    if (line < height) out[line * width + column] = in[line * width + column] + shift;
  }
}

}  // namespace

void matrix_add_row(const float* x, const float* row, float* y, int rows, int columns) {
  const dim3 threads(kWide, kHigh);
  const unsigned across = (columns + kWide - 1) / kWide;
  const unsigned down = (rows + kHigh * kRowsEach - 1) / (kHigh * kRowsEach);
  add_row<<<dim3(across, down), threads>>>(x, row, y, rows, columns);
  CUDA_CHECK(cudaGetLastError());
}

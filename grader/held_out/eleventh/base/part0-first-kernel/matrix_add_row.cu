#include "matrix_add_row.h"

#include "toolkit/check.h"

namespace {

constexpr int kWide = 64;
constexpr int kHigh = 4;
constexpr int kRowsOfThread = 3;

__global__ void shift_rows(const float* x, const float* row, float* y, int rows, int columns) {
  const int c = threadIdx.x + kWide * blockIdx.x;
  const int first = threadIdx.y + kHigh * kRowsOfThread * blockIdx.y;
  if (c >= columns) return;
  const float shift = row[c];
  for (int k = 0; k < kRowsOfThread; ++k) {
    const int r = first + k * kHigh;
    if (r >= rows) break;
    const int at = r * columns + c;
    y[at] = x[at] + shift;
  }
}

}  // namespace

void matrix_add_row(const float* x, const float* row, float* y, int rows, int columns) {
  constexpr int kRowsOfBlock = kHigh * kRowsOfThread;
  const dim3 threads(kWide, kHigh);
  const dim3 blocks((columns + kWide - 1) / kWide, (rows + kRowsOfBlock - 1) / kRowsOfBlock);
  shift_rows<<<blocks, threads>>>(x, row, y, rows, columns);
  CUDA_CHECK(cudaGetLastError());
}

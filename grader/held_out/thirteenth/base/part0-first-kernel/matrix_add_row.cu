#include "matrix_add_row.h"

#include "toolkit/check.h"

namespace {

constexpr unsigned kWide = 64;  // columns of a block
constexpr unsigned kTall = 4;   // threads of a block along y
constexpr unsigned kDeep = 3;   // rows of a thread

__global__ void add_row(const float* x, const float* row, float* y, unsigned rows,
                        unsigned columns) {
  const unsigned column = blockIdx.x * kWide + threadIdx.x;
  if (column >= columns) return;
  const float offset = row[column];
  const unsigned first = blockIdx.y * kTall * kDeep + threadIdx.y;
  for (unsigned r = first; r < first + kTall * kDeep; r += kTall) {
    if (r < rows) y[r * columns + column] = x[r * columns + column] + offset;
  }
}

unsigned pieces(unsigned whole, unsigned part) { return whole / part + (whole % part != 0); }

}  // namespace

void matrix_add_row(const float* x, const float* row, float* y, int rows, int columns) {
  dim3 grid;
  grid.x = pieces(columns, kWide);
  grid.y = pieces(rows, kTall * kDeep);
  add_row<<<grid, dim3(kWide, kTall)>>>(x, row, y, rows, columns);
  CUDA_CHECK(cudaGetLastError());
}

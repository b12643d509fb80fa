#include "matrix_add_row.h"

#include "toolkit/check.h"

// One long row of threads; each works out for itself where in the matrix it stands.
struct Place {
  int r, c;
};

__device__ inline Place unpack(int flat, int columns) { return {flat / columns, flat % columns}; }

__global__ void add_row(const float* __restrict__ x, const float* __restrict__ row, float* y,
                        int count, int columns) {
  const int flat = blockDim.x * blockIdx.x + threadIdx.x;
  if (flat >= count) return;
  const Place at = unpack(flat, columns);
  const float shift = row[at.c];
  y[at.r * columns + at.c] = x[at.r * columns + at.c] + shift;
}

void matrix_add_row(const float* x, const float* row, float* y, int rows, int columns) {
  const int count = rows * columns;
  const int per_block = 192;
  add_row<<<(count - 1) / per_block + 1, per_block>>>(x, row, y, count, columns);
  CUDA_CHECK(cudaGetLastError());
}

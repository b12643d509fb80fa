// A sparse matrix (compressed rows) times a vector: a thread for each row. One row is nearly full.
#include <cmath>
#include <cstdio>
#include <vector>

struct Sparse {
  const int* begin;  // rows + 1
  const int* column;
  const float* value;
};

__global__ void multiply(Sparse m, const float* x, const float* damping, float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const int first = m.begin[row];
  const int behind = m.begin[row + 1];
  const float factor = damping[row];
  float sum = 0.0f;
#pragma unroll 1
  for (int e = first; e < behind; ++e) {
    sum += m.value[e] * x[m.column[e]];
  }
  const float old = x[row];
  y[row] = old + factor * (sum - old);
}

int main() {
  const int rows = 8000, full = 4321;
  std::vector<int> begin = {0}, column;
  std::vector<float> value, x(rows), damping(rows), y(rows);
  for (int r = 0; r < rows; ++r) {
    const int entries = r == full ? 6000 : 3 + r % 6;
    for (int e = 0; e < entries; ++e) {
      column.push_back(r == full ? e : (r + e * 3) % rows);
      value.push_back(0.01f * ((r + e) % 13));
    }
    begin.push_back(column.size());
    x[r] = (r % 31) * 0.1f;
    damping[r] = 0.5f + (r % 2) * 0.25f;
  }
  int *d_begin, *d_column;
  float *d_value, *d_x, *d_damping, *d_y;
  cudaMalloc(&d_begin, begin.size() * 4);
  cudaMalloc(&d_column, column.size() * 4);
  cudaMalloc(&d_value, value.size() * 4);
  cudaMalloc(&d_x, rows * 4);
  cudaMalloc(&d_damping, rows * 4);
  cudaMalloc(&d_y, rows * 4);
  cudaMemcpy(d_begin, begin.data(), begin.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_column, column.data(), column.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_value, value.data(), value.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_x, x.data(), rows * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_damping, damping.data(), rows * 4, cudaMemcpyHostToDevice);
  multiply<<<(rows + 127) / 128, 128>>>({d_begin, d_column, d_value}, d_x, d_damping, d_y, rows);
  int wrong = cudaMemcpy(y.data(), d_y, rows * 4, cudaMemcpyDeviceToHost) != cudaSuccess;
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int e = begin[r]; e < begin[r + 1]; ++e) sum += value[e] * x[column[e]];
    const double expected = x[r] + damping[r] * (sum - x[r]);
    wrong += std::fabs(y[r] - expected) > 1e-4 * (1 + std::fabs(expected));
  }
  cudaFree(d_begin);
  cudaFree(d_column);
  cudaFree(d_value);
  cudaFree(d_x);
  cudaFree(d_damping);
  cudaFree(d_y);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}

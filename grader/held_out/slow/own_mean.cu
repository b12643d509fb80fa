// Divides every element of a row by the mean size of the row's elements, and limits the result.
#include <cmath>
#include <cstdio>
#include <vector>

__global__ void by_own_mean(const float* matrix, const float* limits, float* out, int rows,
                            int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (column >= columns) return;
  const float* mine = matrix + row * columns;
  float total = 0.0f;
  for (int c = 0; c < columns; ++c) {
    total += fabsf(mine[c]);
  }
  const float mean = total / columns + 1e-6f;
  const float limit = limits[column];
  const float value = mine[column] / mean;
  float limited = value;
  if (limited > limit) limited = limit;
  if (limited < -limit) limited = -limit;
  out[row * columns + column] = limited;
}

int main() {
  const int rows = 60, columns = 320;
  std::vector<float> matrix(rows * columns), limits(columns), out(rows * columns);
  for (int i = 0; i < rows * columns; ++i) matrix[i] = (i * 19 % 83) * 0.1f - 4.0f;
  for (int c = 0; c < columns; ++c) limits[c] = 0.5f + (c % 7) * 0.2f;
  float *m, *l, *o;
  cudaMalloc(&m, matrix.size() * sizeof(float));
  cudaMalloc(&l, limits.size() * sizeof(float));
  cudaMalloc(&o, out.size() * sizeof(float));
  cudaMemcpy(m, matrix.data(), matrix.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(l, limits.data(), limits.size() * sizeof(float), cudaMemcpyHostToDevice);
  by_own_mean<<<dim3((columns + 63) / 64, rows), 64>>>(m, l, o, rows, columns);
  int wrong = cudaMemcpy(out.data(), o, out.size() * sizeof(float), cudaMemcpyDeviceToHost) !=
              cudaSuccess;
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = 0; c < columns; ++c) sum += std::fabs(matrix[r * columns + c]);
    for (int c = 0; c < columns; ++c) {
      const double value = matrix[r * columns + c] / (sum / columns + 1e-6);
      const double expected = std::fmax(std::fmin(value, limits[c]), -limits[c]);
      wrong += std::fabs(out[r * columns + c] - expected) > 1e-4;
    }
  }
  cudaFree(m); cudaFree(l); cudaFree(o);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}

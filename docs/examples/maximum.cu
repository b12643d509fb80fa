// A reduction: each block of threads finds the largest number of one row.
#include <cstdio>
#include <vector>

__global__ void row_maxima(const float* x, float* maxima, int columns) {
  __shared__ float largest[128];
  const float* row = x + blockIdx.x * columns;
  float own = row[0];
  for (int c = threadIdx.x; c < columns; c += 128) own = fmaxf(own, row[c]);

  largest[threadIdx.x] = own;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      largest[threadIdx.x] = fmaxf(largest[threadIdx.x], largest[threadIdx.x + half]);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) maxima[blockIdx.x] = largest[0];
}

int main() {
  const int rows = 5, columns = 300;
  std::vector<float> x(rows * columns), maxima(rows);
  for (int i = 0; i < rows * columns; ++i) x[i] = i * 7 % 1000;
  float *device_x = nullptr, *device_maxima = nullptr;
  cudaMalloc(&device_x, x.size() * sizeof(float));
  cudaMalloc(&device_maxima, rows * sizeof(float));
  cudaMemcpy(device_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);

  row_maxima<<<rows, 128>>>(device_x, device_maxima, columns);
  cudaMemcpy(maxima.data(), device_maxima, rows * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(device_x);
  cudaFree(device_maxima);

  int wrong = 0;
  for (int row = 0; row < rows; ++row) {
    float largest = x[row * columns];
    for (int c = 0; c < columns; ++c) largest = fmaxf(largest, x[row * columns + c]);
    wrong += maxima[row] != largest;
  }
  std::printf("%d of %d maxima are wrong\n", wrong, rows);
  return wrong > 0;
}

// A score for every row of a table: weighted mean and largest value.
#include <cmath>
#include <cstdio>
#include <vector>

__global__ void score_rows(const float* table, const float* weights, const float* bias,
                           float* scores, int rows, int columns) {
  extern __shared__ float w[];
  for (int c = threadIdx.x; c < columns; c += blockDim.x) w[c] = weights[c];
  __syncthreads();

  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = bias[r];
  float most = -1e30f;
  float total = 0.0f;
  for (int c = 0; c < columns; ++c) {
    const float value = table[r * columns + c];
    sum += value * w[c];
    total += w[c];
    most = fmaxf(most, value);
  }
  scores[r] = sum / total + 0.125f * most;
}

int main() {
  const int rows = 9000, columns = 100;
  std::vector<float> table(rows * columns), weights(columns), bias(rows), scores(rows);
  for (int i = 0; i < rows * columns; ++i) table[i] = ((i * 37) % 1009) / 1009.0f;
  for (int c = 0; c < columns; ++c) weights[c] = 0.5f + 0.01f * c;
  for (int r = 0; r < rows; ++r) bias[r] = 0.001f * r;
  float *t, *w, *b, *s;
  cudaMalloc(&t, table.size() * sizeof(float));
  cudaMalloc(&w, weights.size() * sizeof(float));
  cudaMalloc(&b, bias.size() * sizeof(float));
  cudaMalloc(&s, scores.size() * sizeof(float));
  cudaMemcpy(t, table.data(), table.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(w, weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(b, bias.data(), bias.size() * sizeof(float), cudaMemcpyHostToDevice);
  score_rows<<<(rows + 127) / 128, 128, columns * sizeof(float)>>>(t, w, b, s, rows, columns);
  const auto error = cudaMemcpy(scores.data(), s, rows * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = error != cudaSuccess;
  for (int r = 0; r < rows; ++r) {
    double sum = bias[r], total = 0, most = -1e30;
    for (int c = 0; c < columns; ++c) {
      sum += table[r * columns + c] * weights[c];
      total += weights[c];
      most = std::fmax(most, table[r * columns + c]);
    }
    wrong += std::fabs(scores[r] - (sum / total + 0.125 * most)) > 1e-4;
  }
  cudaFree(t);
  cudaFree(w);
  cudaFree(b);
  cudaFree(s);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}

// Looks up words in a table of single numbers and mixes them with their neighbours.
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

struct Mix {
  float own, before, after;
};

__global__ void embed(const int* words, const float* table, const float* drop, float* out, int n,
                      Mix mix) {
  __shared__ float looked_up[256 + 2];
  const int first = blockIdx.x * 256;
  for (int t = threadIdx.x; t < 256 + 2; t += blockDim.x) {
    const int i = first + t - 1;
    float number = 0.0f;
    if (i >= 0 && i < n) {
      const int word = words[i];
      number = table[word];
    }
    looked_up[t] = number;
  }
  __syncthreads();

  const int i = first + threadIdx.x;
  if (i < n) {
    const float* at = looked_up + threadIdx.x + 1;
    const float mixed = mix.own * at[0] + mix.before * at[-1] + mix.after * at[1];
    out[i] = mixed * drop[i];
  }
}

int main() {
  const int n = 300000, vocabulary = 1 << 20;
  std::vector<int> words(n);
  std::vector<float> table(vocabulary), drop(n), out(n);
  unsigned state = 12345;
  for (int& w : words) {
    state = state * 1103515245u + 12345u;
    w = (state >> 7) % vocabulary;
  }
  for (int v = 0; v < vocabulary; ++v) table[v] = (v % 251) * 0.01f;
  for (int i = 0; i < n; ++i) drop[i] = i % 10 ? 1.0f : 0.0f;
  int* d_words;
  float *d_table, *d_drop, *d_out;
  cudaMalloc(&d_words, n * 4);
  cudaMalloc(&d_table, vocabulary * 4);
  cudaMalloc(&d_drop, n * 4);
  cudaMalloc(&d_out, n * 4);
  cudaMemcpy(d_words, words.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_table, table.data(), vocabulary * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_drop, drop.data(), n * 4, cudaMemcpyHostToDevice);
  const Mix mix{0.5f, 0.25f, 0.25f};
  embed<<<(n + 255) / 256, 256>>>(d_words, d_table, d_drop, d_out, n, mix);
  const cudaError_t error = cudaMemcpy(out.data(), d_out, n * 4, cudaMemcpyDeviceToHost);
  int wrong = error != cudaSuccess;
  const auto at = [&](int i) { return i >= 0 && i < n ? table[words[i]] : 0.0f; };
  for (int i = 0; i < n; ++i) {
    const double expected = (0.5 * at(i) + 0.25 * at(i - 1) + 0.25 * at(i + 1)) * drop[i];
    wrong += std::fabs(out[i] - expected) > 1e-5;
  }
  cudaFree(d_words);
  cudaFree(d_table);
  cudaFree(d_drop);
  cudaFree(d_out);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}

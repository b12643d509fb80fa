// Cube roots: a cheap guess everywhere, refined where the guess is bad.
#include <cmath>
#include <cstdio>
#include <vector>

__global__ void cube_roots(const float* a, const unsigned char* bad, const float* scale,
                           float* root, int n, int rounds) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float target = a[i];
    // a parabola through 1, 8 and 27
    float guess = 0.6428571f + target * (0.1984127f + target * -0.0036630f);
    guess = guess < 0.5f ? 0.5f : guess;
    if (bad[i]) {
      float z = 20.0f;
      for (int round = 0; round < rounds; ++round) {
        z = z - 0.25f * (z * z * z - target) / (z * z + 1e-6f);
      }
      guess = z;
    }
    root[i] = guess * scale[i];
  }
}

int main() {
  const int n = 120000, rounds = 90;
  std::vector<float> a(n), scale(n), root(n);
  std::vector<unsigned char> bad(n);
  for (int i = 0; i < n; ++i) {
    a[i] = 1.0f + (i % 260) * 0.1f;
    bad[i] = i % 29 == 3;
    scale[i] = 1.0f + (i & 1);
  }
  float *d_a, *d_scale, *d_root;
  unsigned char* d_bad;
  cudaMalloc(&d_a, n * sizeof(float));
  cudaMalloc(&d_scale, n * sizeof(float));
  cudaMalloc(&d_root, n * sizeof(float));
  cudaMalloc(&d_bad, n);
  cudaMemcpy(d_a, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_scale, scale.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_bad, bad.data(), n, cudaMemcpyHostToDevice);
  cube_roots<<<235, 256>>>(d_a, d_bad, d_scale, d_root, n, rounds);
  int wrong =
      cudaMemcpy(root.data(), d_root, n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess;
  for (int i = 0; i < n; ++i) {
    double expected = 0.6428571 + a[i] * (0.1984127 - 0.0036630 * a[i]);
    if (expected < 0.5) expected = 0.5;
    if (bad[i]) expected = std::cbrt(double(a[i]));
    wrong += std::fabs(root[i] - expected * scale[i]) > 1e-3 * std::fabs(expected) + 1e-3;
  }
  cudaFree(d_a);
  cudaFree(d_scale);
  cudaFree(d_root);
  cudaFree(d_bad);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}

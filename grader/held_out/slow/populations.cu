// Populations that grow year by year, then mix with those next to them.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int kYears = 160;
constexpr int kThreads = 512;

__global__ void grow(const float* start, const float* growth, const float* mixing, float* later,
                     int n) {
  __shared__ float grown[kThreads + 2];
  const int me = threadIdx.x + 1;
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float animals = i < n ? start[i] : 0.0f;
  const float rate = i < n ? growth[i] : 0.0f;
  for (int year = 0; year < kYears; ++year) {
    animals = rate * animals * (1.0f - animals);
    __syncthreads();  // keep the years together
  }

  grown[me] = animals;
  if (threadIdx.x == 0) grown[0] = animals;
  if (threadIdx.x == kThreads - 1) grown[me + 1] = animals;
  __syncthreads();
  if (i >= n) return;
  const float share = mixing[i];
  later[i] = (1.0f - share) * animals + 0.5f * share * (grown[me - 1] + grown[me + 1]);
}

int main() {
  const int n = 90 * kThreads;
  std::vector<float> start(n), growth(n), mixing(n), later(n);
  std::vector<double> grown(n);
  for (int i = 0; i < n; ++i) {
    start[i] = 0.1f + (i % 77) * 0.01f;
    growth[i] = 1.5f + (i % 100) * 0.01f;
    mixing[i] = (i % 3) * 0.1f;
    double a = start[i];
    for (int year = 0; year < kYears; ++year) a = growth[i] * a * (1 - a);
    grown[i] = a;
  }
  float *d_start, *d_growth, *d_mixing, *d_later;
  cudaMalloc(&d_start, n * sizeof(float));
  cudaMalloc(&d_growth, n * sizeof(float));
  cudaMalloc(&d_mixing, n * sizeof(float));
  cudaMalloc(&d_later, n * sizeof(float));
  cudaMemcpy(d_start, start.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_growth, growth.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_mixing, mixing.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  grow<<<n / kThreads, kThreads>>>(d_start, d_growth, d_mixing, d_later, n);
  int wrong =
      cudaMemcpy(later.data(), d_later, n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess;
  for (int i = 0; i < n; ++i) {
    const double left = i % kThreads ? grown[i - 1] : grown[i];
    const double right = i % kThreads != kThreads - 1 ? grown[i + 1] : grown[i];
    const double expected = (1.0 - mixing[i]) * grown[i] + 0.5 * mixing[i] * (left + right);
    wrong += std::fabs(later[i] - expected) > 1e-4;
  }
  cudaFree(d_start);
  cudaFree(d_growth);
  cudaFree(d_mixing);
  cudaFree(d_later);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}

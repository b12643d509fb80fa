// Sums of a few carrier waves, whose phases have run for a long time.
#include <cmath>
#include <cstdio>
#include <vector>

template <int kWaves>
struct Carriers {
  float frequency[kWaves], amplitude[kWaves];
};

template <int kWaves>
__global__ void superpose(const float* times, const float* fade, Carriers<kWaves> carriers,
                          float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float t = times[i];
  float sum = 0.0f, loudest = 0.0f;
#pragma unroll 1
  for (int w = 0; w < kWaves; ++w) {
    const float phase = carriers.frequency[w] * t;
    const float wave = sinf(phase);
    const float part = carriers.amplitude[w] * wave;
    sum += part;
    loudest = fmaxf(loudest, fabsf(part));
  }
  out[i] = sum * fade[i] + 0.01f * loudest;
}

int main() {
  constexpr int n = 16000, waves = 5;
  const Carriers<waves> carriers = {{1.0e5f, 2.1e5f, 3.3e5f, 4.7e5f, 6.1e5f},
                                    {1.0f, 0.5f, 0.25f, 0.5f, 0.125f}};
  std::vector<float> times(n), fade(n), out(n);
  for (int i = 0; i < n; ++i) {
    times[i] = 20.0f + i * 0.001f;
    fade[i] = 1.0f - 0.5f * i / n;
  }
  float *d_times, *d_fade, *d_out;
  cudaMalloc(&d_times, n * sizeof(float));
  cudaMalloc(&d_fade, n * sizeof(float));
  cudaMalloc(&d_out, n * sizeof(float));
  cudaMemcpy(d_times, times.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_fade, fade.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  superpose<waves><<<(n + 127) / 128, 128>>>(d_times, d_fade, carriers, d_out, n);
  int wrong = cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess;
  for (int i = 0; i < n; ++i) {
    double sum = 0, loudest = 0;
    for (int w = 0; w < waves; ++w) {
      const float phase = carriers.frequency[w] * times[i];
      const double part = carriers.amplitude[w] * std::sin(double(phase));
      sum += part;
      loudest = std::fmax(loudest, std::fabs(part));
    }
    wrong += std::fabs(out[i] - (sum * fade[i] + 0.01 * loudest)) > 1e-4;
  }
  cudaFree(d_times); cudaFree(d_fade); cudaFree(d_out);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}

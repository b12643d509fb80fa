// Brings signals of 2048 samples to the same mean loudness, a block for each signal.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int kSamples = 2048;
constexpr int kThreads = 1024;

__global__ void normalise(const float* in, float* out, float wanted) {
  __shared__ float loudness[kThreads];
  __shared__ float gain;
  const float* signal = in + blockIdx.x * kSamples;
  float part = 0.0f;
  for (int s = threadIdx.x; s < kSamples; s += kThreads) part += fabsf(signal[s]);
  loudness[threadIdx.x] = part;
  __syncthreads();

  if (threadIdx.x == 0) {
    float total = 0.0f;
    for (int t = 0; t < kThreads; ++t) {
      total = total + loudness[t];
    }
    gain = total > 0.0f ? wanted * kSamples / total : 1.0f;
  }
  __syncthreads();

  const float factor = gain;
  for (int s = threadIdx.x; s < kSamples; s += kThreads) {
    const float louder = signal[s] * factor;
    out[blockIdx.x * kSamples + s] = fminf(fmaxf(louder, -4.0f), 4.0f);
  }
}

int main() {
  const int signals = 90;
  std::vector<float> in(signals * kSamples), out(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = ((i * 31) % 199 / 199.0f - 0.5f) * (1 + i / kSamples % 4);
  float *d_in, *d_out;
  cudaMalloc(&d_in, in.size() * sizeof(float));
  cudaMalloc(&d_out, in.size() * sizeof(float));
  cudaMemcpy(d_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice);
  normalise<<<signals, kThreads>>>(d_in, d_out, 0.7f);
  int wrong = cudaMemcpy(out.data(), d_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost) !=
              cudaSuccess;
  for (int b = 0; b < signals; ++b) {
    double total = 0;
    for (int s = 0; s < kSamples; ++s) total += std::fabs(in[b * kSamples + s]);
    for (int s = 0; s < kSamples; ++s) {
      const double e = std::fmin(std::fmax(in[b * kSamples + s] * 0.7 * kSamples / total, -4.0), 4.0);
      wrong += std::fabs(out[b * kSamples + s] - e) > 1e-4;
    }
  }
  cudaFree(d_in); cudaFree(d_out);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}

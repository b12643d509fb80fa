// For each sensor: how its samples spread over 32 loudness bins, and where half of them lie.
#include <cstdio>
#include <vector>

constexpr int kBins = 32, kSamples = 96;

__global__ void medians(const unsigned char* samples, const unsigned char* shift, int* median,
                        int* peak, int sensors) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= sensors) return;
  int bin[kBins];
  for (int b = 0; b < kBins; ++b) bin[b] = 0;

  const int own_shift = shift[s];
  for (int t = 0; t < kSamples; ++t) {
    const int loudness = samples[t * sensors + s] + own_shift;
    bin[(loudness >> 3) & (kBins - 1)] += 1;
  }

  int seen = 0, middle = 0, most = 0;
#pragma unroll
  for (int b = 0; b < kBins; ++b) {
    const int here = bin[b];
    if (seen * 2 < kSamples) middle = b;
    seen += here;
    most = max(most, here);
  }
  median[s] = middle;
  peak[s] = most;
}

int main() {
  const int sensors = 12000;
  std::vector<unsigned char> samples(kSamples * sensors), shift(sensors);
  std::vector<int> median(sensors), peak(sensors);
  unsigned state = 3;
  for (auto& v : samples) v = (state = state * 1664525u + 1013904223u) >> 24;
  for (int s = 0; s < sensors; ++s) shift[s] = s % 11;
  unsigned char *d_samples, *d_shift;
  int *d_median, *d_peak;
  cudaMalloc(&d_samples, samples.size());
  cudaMalloc(&d_shift, sensors);
  cudaMalloc(&d_median, sensors * sizeof(int));
  cudaMalloc(&d_peak, sensors * sizeof(int));
  cudaMemcpy(d_samples, samples.data(), samples.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(d_shift, shift.data(), sensors, cudaMemcpyHostToDevice);
  medians<<<(sensors + 95) / 96, 96>>>(d_samples, d_shift, d_median, d_peak, sensors);
  int wrong = cudaMemcpy(median.data(), d_median, sensors * 4, cudaMemcpyDeviceToHost) != cudaSuccess;
  cudaMemcpy(peak.data(), d_peak, sensors * 4, cudaMemcpyDeviceToHost);
  for (int s = 0; s < sensors; ++s) {
    int bin[kBins] = {}, seen = 0, middle = 0, most = 0;
    for (int t = 0; t < kSamples; ++t) ++bin[((samples[t * sensors + s] + shift[s]) >> 3) & 31];
    for (int b = 0; b < kBins; ++b) {
      if (seen * 2 < kSamples) middle = b;
      seen += bin[b];
      most = bin[b] > most ? bin[b] : most;
    }
    wrong += middle != median[s] || most != peak[s];
  }
  cudaFree(d_samples);
  cudaFree(d_shift);
  cudaFree(d_median);
  cudaFree(d_peak);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}

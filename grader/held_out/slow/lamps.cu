// Light of a row of lamps on a floor, with a falloff that may be any power of the distance.
#include <cmath>
#include <cstdio>
#include <vector>

struct Lamp {
  float x, y, height, power;
};

constexpr int kLamps = 16;

__device__ float clamped(float v, float low, float high) { return fminf(fmaxf(v, low), high); }

__global__ void light(const Lamp* lamps, const float* albedo, float* floor_light, int width,
                      int height, float falloff) {
  __shared__ Lamp lamp[kLamps];
  if (threadIdx.y == 0 && threadIdx.x < kLamps) lamp[threadIdx.x] = lamps[threadIdx.x];
  __syncthreads();
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;

  float sum = 0.0f;
  for (int l = 0; l < kLamps; ++l) {
    const float dx = x - lamp[l].x, dy = y - lamp[l].y;
    const float d2 = dx * dx + dy * dy + lamp[l].height * lamp[l].height;
    const float dimmed = powf(d2, falloff);
    sum += lamp[l].power * dimmed;
  }
  const int at = y * width + x;
  floor_light[at] = clamped(sum * albedo[at], 0.0f, 4.0f);
}

int main() {
  const int width = 160, height = 112;
  const float falloff = -0.85f;
  std::vector<Lamp> lamps;
  for (int l = 0; l < kLamps; ++l) lamps.push_back({10.0f * l, 7.0f * l, 3.0f, 1.0f + l % 3});
  std::vector<float> albedo(width * height), out(width * height);
  for (int i = 0; i < width * height; ++i) albedo[i] = 0.5f + (i % 5) * 0.1f;
  Lamp* d_lamps;
  float *d_albedo, *d_out;
  cudaMalloc(&d_lamps, kLamps * sizeof(Lamp));
  cudaMalloc(&d_albedo, albedo.size() * sizeof(float));
  cudaMalloc(&d_out, out.size() * sizeof(float));
  cudaMemcpy(d_lamps, lamps.data(), kLamps * sizeof(Lamp), cudaMemcpyHostToDevice);
  cudaMemcpy(d_albedo, albedo.data(), albedo.size() * sizeof(float), cudaMemcpyHostToDevice);
  light<<<dim3(width / 32, height / 8), dim3(32, 8)>>>(d_lamps, d_albedo, d_out, width, height,
                                                       falloff);
  int wrong = cudaMemcpy(out.data(), d_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost) !=
              cudaSuccess;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      for (const Lamp& l : lamps) {
        const double d2 = std::pow(x - l.x, 2) + std::pow(y - l.y, 2) + l.height * l.height;
        sum += l.power * std::pow(d2, double(falloff));
      }
      const double expected = std::fmin(sum * albedo[y * width + x], 4.0);
      wrong += std::fabs(out[y * width + x] - expected) > 1e-4 * (1 + expected);
    }
  cudaFree(d_lamps); cudaFree(d_albedo); cudaFree(d_out);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}

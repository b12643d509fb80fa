// Energies of charged particles near a few fixed poles.
#include <cmath>
#include <cstdio>
#include <vector>

struct Particle {
  float charge, spin;
  float velocity[6];
  float history[7];
  float mass;
};

constexpr int kPoles = 6;

__global__ void energies(const Particle* cloud, const float* x, const float* y, const float* poles,
                         float* energy, int n) {
  __shared__ float px[kPoles], py[kPoles], strength[kPoles];
  if (threadIdx.x < kPoles) {
    px[threadIdx.x] = poles[3 * threadIdx.x];
    py[threadIdx.x] = poles[3 * threadIdx.x + 1];
    strength[threadIdx.x] = poles[3 * threadIdx.x + 2];
  }
  __syncthreads();

  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float here_x = x[i];
  const float here_y = y[i];
  const float weight = cloud[i].charge * cloud[i].mass;
  float potential = 0.0f;
  for (int p = 0; p < kPoles; ++p) {
    const float dx = here_x - px[p], dy = here_y - py[p];
    potential += strength[p] * (dx * dx + dy * dy);
  }
  energy[i] = weight * potential;
}

int main() {
  const int n = 200000;
  std::vector<Particle> cloud(n);
  std::vector<float> x(n), y(n), out(n), poles(3 * kPoles);
  for (int i = 0; i < n; ++i) {
    cloud[i] = {};
    cloud[i].charge = 1.0f + i % 7;
    cloud[i].mass = 0.5f + i % 3;
    x[i] = (i % 101) * 0.01f;
    y[i] = (i % 89) * 0.02f;
  }
  for (int p = 0; p < 3 * kPoles; ++p) poles[p] = 0.1f * p;
  Particle* d_cloud;
  float *d_x, *d_y, *d_out, *d_poles;
  cudaMalloc(&d_cloud, n * sizeof(Particle));
  cudaMalloc(&d_x, n * 4);
  cudaMalloc(&d_y, n * 4);
  cudaMalloc(&d_out, n * 4);
  cudaMalloc(&d_poles, poles.size() * 4);
  cudaMemcpy(d_cloud, cloud.data(), n * sizeof(Particle), cudaMemcpyHostToDevice);
  cudaMemcpy(d_x, x.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_y, y.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_poles, poles.data(), poles.size() * 4, cudaMemcpyHostToDevice);
  energies<<<(n + 255) / 256, 256>>>(d_cloud, d_x, d_y, d_poles, d_out, n);
  const cudaError_t error = cudaMemcpy(out.data(), d_out, n * 4, cudaMemcpyDeviceToHost);
  int wrong = error != cudaSuccess;
  for (int i = 0; i < n; ++i) {
    double potential = 0;
    for (int p = 0; p < kPoles; ++p) {
      const double dx = x[i] - poles[3 * p], dy = y[i] - poles[3 * p + 1];
      potential += poles[3 * p + 2] * (dx * dx + dy * dy);
    }
    const double expected = cloud[i].charge * cloud[i].mass * potential;
    wrong += std::fabs(out[i] - expected) > 1e-3 * (1 + std::fabs(expected));
  }
  cudaFree(d_cloud);
  cudaFree(d_x);
  cudaFree(d_y);
  cudaFree(d_out);
  cudaFree(d_poles);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}

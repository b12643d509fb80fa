/// What a launch costs of real time: many of a kernel of one block, one after the other, and one
/// wait for all of them.

#include <chrono>
#include <cstdio>

__global__ void fill(float* values) { values[threadIdx.x] = 1.0f; }

int main() {
  constexpr int kLaunches = 10'000;
  float* values = nullptr;
  cudaMalloc(&values, 32 * sizeof(float));
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) fill<<<1, 32>>>(values);
    const cudaError_t error = cudaDeviceSynchronize();
    const std::chrono::duration<double, std::micro> elapsed =
        std::chrono::steady_clock::now() - start;
    if (error != cudaSuccess) {
      std::printf("%s\n", cudaGetErrorString(error));
      return 1;
    }
    std::printf("%.1f us per launch\n", elapsed.count() / kLaunches);
  }
  cudaFree(values);
}

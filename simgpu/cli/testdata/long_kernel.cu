// A kernel that takes minutes to simulate.
#include <cuda_runtime.h>

__global__ void count(unsigned* out) {
  unsigned sum = 1;
  for (unsigned i = 0; i < 4'000'000'000U; ++i) sum = sum * 1664525U + (sum >> 7);
  *out = sum;
}

int main() {
  unsigned* out = nullptr;
  cudaMalloc(&out, sizeof *out);
  count<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
  return 0;
}

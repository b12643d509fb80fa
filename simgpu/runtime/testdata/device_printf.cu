#include "check.h"

__global__ void greet(const char* unused, double number) {
  printf("thread %d of %s: %.3f %5u %c%%\n", static_cast<int>(threadIdx.x), "block", number, 42u,
         'x');
}

int main() {
  greet<<<1, 3>>>(nullptr, 2.5);
  CHECK(cudaGetLastError());
  std::printf("before the wait\n");
  CHECK(cudaDeviceSynchronize());
  std::printf("after the wait\n");
}

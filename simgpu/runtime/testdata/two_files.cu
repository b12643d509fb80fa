#include "check.h"

int doubled_on_device(int value);

__global__ void increment(int* value) { ++*value; }

/// Uses the device before and after main.
struct EarlyUser {
  int* value = nullptr;
  EarlyUser() {
    CHECK(cudaMalloc(&value, sizeof(int)));
    CHECK(cudaMemset(value, 0, sizeof(int)));
    increment<<<1, 1>>>(value);
  }
  ~EarlyUser() { CHECK(cudaFree(value)); }
};
static EarlyUser early;

int main() {
  increment<<<1, 1>>>(early.value);
  int value = 0;
  CHECK(cudaMemcpy(&value, early.value, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 2);
  EXPECT(doubled_on_device(21) == 42);
  std::printf("both files run\n");
}

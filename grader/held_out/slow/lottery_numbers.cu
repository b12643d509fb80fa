// Numbers in a mixed base: the weighted sum of the digits of each.
#include <cstdio>
#include <vector>

using i64 = long long;
constexpr int kDigits = 6;

struct Bases {
  i64 of[kDigits];
};

__global__ void digit_sums(const i64* numbers, const int* weights, int* sums, int n, Bases bases) {
  __shared__ int weight[kDigits];
  if (threadIdx.x < kDigits) weight[threadIdx.x] = weights[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;

  i64 rest = numbers[i];
  int sum = 0;
  int largest = 0;
  for (int d = 0; d < kDigits; ++d) {
    const i64 base = bases.of[d];
    const i64 left = rest / base;
    const int digit = static_cast<int>(rest - left * base);
    sum += weight[d] * digit;
    largest = max(largest, digit);
    rest = left;
  }
  sums[i] = sum * 64 + largest;
}

int main() {
  const int n = 33000;
  const Bases bases = {{10, 37, 12, 60, 24, 7}};
  std::vector<i64> numbers(n);
  std::vector<int> weights = {3, 1, 4, 1, 5, 9}, sums(n);
  for (int i = 0; i < n; ++i) numbers[i] = (i * 7919LL * 104729LL + i) % 400000000000LL;
  i64* d_numbers;
  int *d_weights, *d_sums;
  cudaMalloc(&d_numbers, n * sizeof(i64));
  cudaMalloc(&d_weights, kDigits * sizeof(int));
  cudaMalloc(&d_sums, n * sizeof(int));
  cudaMemcpy(d_numbers, numbers.data(), n * sizeof(i64), cudaMemcpyHostToDevice);
  cudaMemcpy(d_weights, weights.data(), kDigits * sizeof(int), cudaMemcpyHostToDevice);
  digit_sums<<<(n + 191) / 192, 192>>>(d_numbers, d_weights, d_sums, n, bases);
  int wrong = cudaMemcpy(sums.data(), d_sums, n * sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess;
  for (int i = 0; i < n; ++i) {
    i64 rest = numbers[i];
    int sum = 0, largest = 0;
    for (int d = 0; d < kDigits; ++d) {
      const int digit = rest % bases.of[d];
      sum += weights[d] * digit;
      largest = digit > largest ? digit : largest;
      rest /= bases.of[d];
    }
    wrong += sums[i] != sum * 64 + largest;
  }
  cudaFree(d_numbers); cudaFree(d_weights); cudaFree(d_sums);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}

// Which lane of a warp holds which element of a product on tensor cores. It includes headers of the
// course: compile it with -Ilabs -Ilabs/part5-flash-attention/interface.
#include <cuda_fp16.h>

#include <cstdio>

#include "fragments.h"

// One warp multiplies a (16, 16) by b (16, 8) such that element (i, j) of the product is 10 i + j.
__global__ void show_layout(float* product) {
  __shared__ __align__(16) __half rows[16][16];     // a: i, 1, 0, 0, ...
  __shared__ __align__(16) __half columns[16][16];  // b: 10 in its first row, j in its second
  const int lane = threadIdx.x;
  for (int n = lane; n < 16 * 16; n += 32) {
    const int i = n / 16, j = n % 16;
    rows[i][j] = __int2half_rn(j == 0 ? i : j == 1 ? 1 : 0);
    columns[i][j] = __int2half_rn(i == 0 ? 10 : i == 1 ? j : 0);
  }
  __syncwarp();

  FragmentA<__half> a;
  FragmentB<__half> b[2];
  load_a(&rows[0][0], 16, a);
  load_b(&columns[0][0], 16, b);
  Sums sums;
  multiply_add(a, b[0], sums);
  for (int n = 0; n < 4; ++n) product[lane * 4 + n] = sums.value[n];
}

int main() {
  float* product = nullptr;
  cudaMallocManaged(&product, 32 * 4 * sizeof(float));
  show_layout<<<1, 32>>>(product);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  bool is_as_documented = true;
  for (int lane = 0; lane < 32; ++lane) {
    const float* value = product + lane * 4;
    std::printf("lane %2d holds %3g %3g %3g %3g\n", lane, value[0], value[1], value[2], value[3]);
    for (int n = 0; n < 4; ++n) {
      const int row = lane / 4 + n / 2 * 8, column = lane % 4 * 2 + n % 2;
      if (value[n] != static_cast<float>(10 * row + column)) is_as_documented = false;
    }
  }
  cudaFree(product);
  return is_as_documented ? 0 : 1;
}

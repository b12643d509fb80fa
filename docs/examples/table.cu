// A two-dimensional grid: a multiplication table, one thread for each entry.
#include <cstdio>
#include <vector>

__global__ void table(int* products, int rows, int columns) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= columns || y >= rows) return;
  products[y * columns + x] = (y + 1) * (x + 1);
}

int main() {
  const int rows = 20, columns = 50;
  std::vector<int> products(rows * columns);
  int* device_products = nullptr;
  cudaMalloc(&device_products, products.size() * sizeof(int));

  const dim3 block(16, 16);
  const dim3 grid((columns + 15) / 16, (rows + 15) / 16);
  table<<<grid, block>>>(device_products, rows, columns);
  cudaMemcpy(products.data(), device_products, products.size() * sizeof(int),
             cudaMemcpyDeviceToHost);
  cudaFree(device_products);

  std::printf("7 times 8 is %d\n", products[6 * columns + 7]);
  return products[6 * columns + 7] != 56;
}

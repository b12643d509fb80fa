// Finds for every order the price band it falls into, and what it then costs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

struct Order {
  float amount;
  float discount;
};

__global__ void price(const Order* orders, const float* limits, const float* rates, float* cost,
                      int* band, int n, int bands) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    const Order order = orders[i];
    int low = 0, high = bands;
    while (low < high) {
      const int middle = (low + high) >> 1;
      const bool below = limits[middle] <= order.amount;
      low = below ? middle + 1 : low;
      high = below ? high : middle;
    }
    const float rate = rates[low & 15];
    cost[i] = order.amount * rate * (1.0f - order.discount);
    band[i] = low;
  }
}

int main() {
  const int n = 50000, bands = 400000;
  std::vector<Order> orders(n);
  std::vector<float> limits(bands), rates(16), cost(n);
  std::vector<int> band(n);
  unsigned state = 5;
  for (auto& o : orders) {
    state = state * 1664525u + 1013904223u;
    o = {(state >> 8) / 16777216.0f * 1000.0f, (state & 31) * 0.01f};
  }
  for (int b = 0; b < bands; ++b) limits[b] = 1000.0f * b / bands;
  for (int r = 0; r < 16; ++r) rates[r] = 1.0f + 0.05f * r;
  Order* d_orders;
  float *d_limits, *d_rates, *d_cost;
  int* d_band;
  cudaMalloc(&d_orders, n * sizeof(Order));
  cudaMalloc(&d_limits, bands * 4);
  cudaMalloc(&d_rates, 64);
  cudaMalloc(&d_cost, n * 4);
  cudaMalloc(&d_band, n * 4);
  cudaMemcpy(d_orders, orders.data(), n * sizeof(Order), cudaMemcpyHostToDevice);
  cudaMemcpy(d_limits, limits.data(), bands * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_rates, rates.data(), 64, cudaMemcpyHostToDevice);
  price<<<196, 128>>>(d_orders, d_limits, d_rates, d_cost, d_band, n, bands);
  int wrong = cudaMemcpy(cost.data(), d_cost, n * 4, cudaMemcpyDeviceToHost) != cudaSuccess;
  cudaMemcpy(band.data(), d_band, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) {
    const int expected =
        std::upper_bound(limits.begin(), limits.end(), orders[i].amount) - limits.begin();
    const double e = orders[i].amount * rates[expected & 15] * (1.0 - orders[i].discount);
    wrong += band[i] != expected || std::fabs(cost[i] - e) > 1e-2;
  }
  cudaFree(d_orders);
  cudaFree(d_limits);
  cudaFree(d_rates);
  cudaFree(d_cost);
  cudaFree(d_band);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}

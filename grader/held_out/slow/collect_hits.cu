// Collects what rays hit, a few hits for each ray, into one list without gaps.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

struct Spheres {
  static constexpr int kCount = 4;
  float x[kCount], radius[kCount];
};

__global__ void collect(const float* rays, Spheres spheres, int* list, int* cursor, int n) {
  const int ray = blockIdx.x * blockDim.x + threadIdx.x;
  if (ray >= n) return;
  const float at = rays[ray];
  int hit[Spheres::kCount];
  int hits = 0;
#pragma unroll
  for (int s = 0; s < Spheres::kCount; ++s) {
    const bool touched = fabsf(at - spheres.x[s]) < spheres.radius[s];
    hit[s] = touched ? 1 : 0;
    hits += hit[s];
  }
  int place = atomicAdd(cursor, hits);
#pragma unroll
  for (int s = 0; s < Spheres::kCount; ++s) {
    if (hit[s]) list[place++] = ray * Spheres::kCount + s;
  }
}

int main() {
  const int n = 180000;
  const Spheres spheres = {{0.1f, 0.3f, 0.35f, 0.8f}, {0.08f, 0.1f, 0.05f, 0.15f}};
  std::vector<float> rays(n);
  for (int i = 0; i < n; ++i) rays[i] = (i * 617 % 10007) / 10007.0f;
  std::vector<int> expected;
  for (int i = 0; i < n; ++i)
    for (int s = 0; s < Spheres::kCount; ++s)
      if (std::fabs(rays[i] - spheres.x[s]) < spheres.radius[s]) expected.push_back(4 * i + s);
  float* d_rays;
  int *d_list, *d_cursor;
  cudaMalloc(&d_rays, n * sizeof(float));
  cudaMalloc(&d_list, n * Spheres::kCount * sizeof(int));
  cudaMalloc(&d_cursor, sizeof(int));
  cudaMemcpy(d_rays, rays.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(d_cursor, 0, sizeof(int));
  collect<<<(n + 255) / 256, 256>>>(d_rays, spheres, d_list, d_cursor, n);
  int count = 0;
  int wrong = cudaMemcpy(&count, d_cursor, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess;
  std::vector<int> list(count);
  cudaMemcpy(list.data(), d_list, count * sizeof(int), cudaMemcpyDeviceToHost);
  std::sort(list.begin(), list.end());
  wrong += list != expected;
  cudaFree(d_rays); cudaFree(d_list); cudaFree(d_cursor);
  std::printf("%d wrong, %d hits\n", wrong, count);
  return wrong != 0;
}

// Shared-memory tiles, unrolled inner loops, dynamic shared memory and launch bounds.
constexpr int kTile = 16;

__global__ void __launch_bounds__(256, 2)
    gemm_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[kTile][kTile];
  __shared__ float bs[kTile][kTile + 1];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < (k + kTile - 1) / kTile; ++t) {
    const int i = t * kTile + threadIdx.x;
    const int j = t * kTile + threadIdx.y;
    as[threadIdx.y][threadIdx.x] = row < m && i < k ? a[row * k + i] : 0.0f;
    bs[threadIdx.y][threadIdx.x] = j < k && col < n ? b[j * n + col] : 0.0f;
    __syncthreads();
    for (int e = 0; e < kTile; ++e) sum += as[threadIdx.y][e] * bs[e][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

__global__ void copy_vectors(const float4* in, float4* out) {
  extern __shared__ float4 staged[];
  staged[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}

// Kernels of the recorder's tests; the tests find lines by the comments on them.

extern "C" __global__ void straight(const float* in, float* out, float factor) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;  // index
  const float scaled = in[i] * factor;                       // scaled
  out[i] = scaled + 1.0f;                                    // store
}

extern "C" __global__ void branches(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int value = 1;
  if (i < 5) {
    for (int k = 0; k < out[i]; ++k) value += out[k];  // low lanes
  }
  out[i] = value;  // all lanes
}

extern "C" __global__ void mirrored(const int* in, int* out) {
  __shared__ int tile[128];
  tile[threadIdx.x] = in[threadIdx.x];         // first side
  out[threadIdx.x] = tile[127 - threadIdx.x];  // second side
}

extern "C" __global__ void tiles(const int* in, int* out, int count) {
  __shared__ int tile[64];
  int sum = 0;
  for (int t = 0; t < count; ++t) {
    tile[threadIdx.x] = in[t * 64 + threadIdx.x];  // tile store
    __syncthreads();                               // barrier
    sum += tile[63 - threadIdx.x];                 // sum
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void stores(float* out, int count) {
  for (int k = 0; k < count; ++k) out[(k * 7 + blockIdx.x) % 32] = static_cast<float>(k);
}

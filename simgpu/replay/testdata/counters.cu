// Loops that store their counters in shared memory on a line of their own: the test holds the
// values that carry a counter's name against what was stored. Volatile, so that the compiler leaves
// each store where it is.

extern "C" __global__ void tiles(const int* in, int* out, int count) {
  __shared__ volatile int seen[32];
  int sum = 0;
#pragma unroll 1
  for (int tile = 0; tile < count; tile += 16) {
    __syncthreads();
    seen[threadIdx.x] = tile;  // seen tile
    __syncthreads();
    sum += in[(tile + threadIdx.x) % 64];
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void strided(const int* in, int* out, int count) {
  __shared__ volatile int seen[32];
  int sum = 0;
#pragma unroll 1
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    seen[threadIdx.x] = i;  // seen i
    sum += in[i % 64];
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void halved(const int* in, int* out, int count) {
  __shared__ volatile int seen[32];
  __shared__ int part[64];
  part[threadIdx.x] = in[threadIdx.x] + count;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
    seen[threadIdx.x] = stride;  // seen stride
    if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
    __syncthreads();
  }
  out[threadIdx.x] = part[0];
}

/// The inner counter begins with the outer one, and starts anew each time.
extern "C" __global__ void nested(const int* in, int* out, int count) {
  __shared__ volatile int seen[32];
  int sum = 0;
  for (int row = 0; row < count; ++row) {
#pragma unroll 1
    for (int column = row + 1; column < count; ++column) {
      seen[threadIdx.x] = 100 * row + column;  // seen both
      sum += in[column % 64];
    }
    sum *= 2;  // between
  }
  out[threadIdx.x] = sum;
}

/// The compiler makes a loop of four iterations at once of it, and one for those that are left.
extern "C" __global__ void unrolled(const int* in, int* out, int count) {
  __shared__ volatile int seen[32];
  int sum = 0;
  for (int k = 0; k < count; ++k) {
    seen[threadIdx.x] = k;  // seen k
    sum += in[k % 64];
  }
  out[threadIdx.x] = sum;
}

/// Two loops whose counters have one name, and lanes that go round more often than others.
extern "C" __global__ void twice(const int* in, int* out, int count) {
  __shared__ volatile int seen[32];
  int sum = 0;
#pragma unroll 1
  for (int j = 0; j < count; ++j) {
    seen[threadIdx.x] = j;  // seen first
    sum += in[j % 64];
  }
  out[threadIdx.x] = sum;  // after the first
#pragma unroll 1
  for (int j = count; j > static_cast<int>(threadIdx.x) / 2; --j) {
    seen[threadIdx.x] = j;  // seen second
    sum += in[j % 64];
  }
  out[threadIdx.x] += sum;
}

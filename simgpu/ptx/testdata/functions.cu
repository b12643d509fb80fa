// Real calls, tables of function pointers, constants and globals with initial values.
struct Entry {
  char tag;
  const int* where;
  double weight;
};

__constant__ float coefficients[2][4] = {{1.0f, -2.5f}, {0.125f, 3e10f}};
__device__ int counter = 41;
__device__ int* counter_address = &counter;
__device__ Entry entry = {'x', &counter, 0.1};
__managed__ int shared_with_host;

__device__ __noinline__ float plus(float x, float y) { return x + y + counter; }
__device__ __noinline__ float minus(float x, float y) { return x - y - counter; }
using Binary = float (*)(float, float);
__device__ Binary table[2] = {plus, minus};

__device__ __noinline__ float spilled(float x, const int* at) {
  volatile float scratch[48];
  for (int i = 0; i < 48; ++i) scratch[i] = x * i;
  return scratch[at[0]] + scratch[at[1]];
}
__device__ __noinline__ unsigned factorial(unsigned n) { return n < 2 ? 1 : n * factorial(n - 1); }

__global__ void call_through_table(float* out, const int* which) {
  __shared__ double partial[20];
  const int i = threadIdx.x;
  partial[i] = out[i];
  __syncthreads();
  out[i] =
      table[which[i]](out[i], coefficients[1][which[i]]) + spilled(out[0], which) + partial[19 - i];
  *counter_address += 1;
  entry.weight += shared_with_host;
}

__global__ void recursive(unsigned* out) { out[threadIdx.x] = factorial(out[threadIdx.x]); }

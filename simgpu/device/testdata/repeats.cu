/// Kernels that depend on what they are given in different ways, for the test of repeated launches.
#include <cstdio>

#define KERNEL extern "C" __global__ void

__constant__ int constant_turns;
__device__ int device_turns;

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ float work(float value, int turns) {
#pragma unroll 1
  for (int i = 0; i < turns; ++i) value = value * 0.5f + 1;
  return value;
}

KERNEL work_on(const float* in, float* out, int turns) { out[place()] = work(in[place()], turns); }

/// No result is negative.
KERNEL work_in_vain(const float* in, float* out, int turns) {
  const float result = work(in[place()], turns);
  if (result < 0) out[place()] = result;
}

KERNEL work_in_place(float* data, int turns) { data[place()] = work(data[place()], turns); }

/// How much there is to do is data.
KERNEL work_as_told(const int* turns, const float* in, float* out) {
  out[place()] = work(in[place()], *turns);
}

KERNEL work_as_constant_tells(const float* in, float* out) {
  out[place()] = work(in[place()], constant_turns);
}

KERNEL work_as_variable_tells(const float* in, float* out) {
  out[place()] = work(in[place()], device_turns);
}

KERNEL work_from_now(const float* in, unsigned long long* out, int turns) {
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  out[place()] = now + static_cast<unsigned long long>(work(in[place()], turns));
}

KERNEL work_and_say(const float* in, float* out, int turns) {
  out[place()] = work(in[place()], turns);
  if (place() == 0) printf("done\n");
}

KERNEL work_and_count(const float* in, float* out, int* count, int turns) {
  out[place()] = work(in[place()], turns);
  if (threadIdx.x == 0) atomicAdd(count, 1);
}

#include <cuda_pipeline.h>

#include "fault.h"

/// An index that leaves its array in shared memory and hits another one: the address is inside the
/// block's shared memory, so that no hardware sees it.
namespace {

__global__ void one_past_into_next(const float* in, float* out, int past) {
  __shared__ float first[32], second[32];
  const unsigned i = threadIdx.x;
  first[i] = in[i];
  second[i] = in[i + 32];
  __syncthreads();
  // FAULT one_past_into_next RL0202 out-of-bounds "it is at first[32]"
  out[i] = first[i + past] + second[i];
}

__global__ void before_the_second(const float* in, float* out, int before) {
  __shared__ float left[32], right[32];
  const unsigned i = threadIdx.x;
  left[i] = in[i];
  right[i] = in[i + 32];
  __syncthreads();
  const int at = static_cast<int>(i) - before;
  // FAULT before_the_second RL0202 out-of-bounds "it is at right[-1]"
  out[i] = left[i] + right[at];
}

/// A halo of one is wanted on both sides, and there is room for one.
__global__ void halo_store(const float* in, float* out, int halo) {
  __shared__ float row[33], weights[32];
  const unsigned i = threadIdx.x;
  row[i] = 0;
  weights[i] = 1;
  __syncthreads();
  // FAULT halo_store RL0202 out-of-bounds "it is at row[33]"
  row[i + halo] = in[i];
  __syncthreads();
  out[i] = row[i + 1] * weights[i];
}

/// Rows of 16, and one too many of them.
__global__ void last_row(const int* in, int* out, int rows) {
  __shared__ int tile[4][16], sums[16];
  const unsigned x = threadIdx.x;
  sums[x] = 0;
  __syncthreads();
  for (int y = 0; y < rows; ++y) {
    // FAULT last_row RL0202 out-of-bounds "it is at tile[4][0], which is outside"
    tile[y][x] = in[y * 16 + x];
  }
  __syncthreads();
  out[x] = tile[3][x] + sums[x];
}

__global__ void pointer_in_a_loop(const int* in, int* out, int count) {
  __shared__ int steps[16], guard[16];
  steps[threadIdx.x] = in[threadIdx.x];
  guard[threadIdx.x] = 0;
  __syncthreads();
  int sum = 0;
  // FAULT pointer_in_a_loop RL0202 out-of-bounds "steps"
  for (const int *at = steps, *end = steps + count; at != end; ++at) sum += *at;
  out[threadIdx.x] = sum + guard[threadIdx.x];
}

__global__ void bin_out_of_range(const int* in, int* out, bool wrong) {
  __shared__ int bins[8], total;
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  if (threadIdx.x == 0) total = in[0];
  __syncthreads();
  const int bin = wrong ? in[threadIdx.x] : in[threadIdx.x] & 7;
  // FAULT bin_out_of_range RL0202 out-of-bounds "it is at bins[8]"
  atomicAdd(&bins[bin], 1);
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x] + total;
}

__device__ float last_of(const float* values, int count) {
  // FAULT in_a_function RL0202 out-of-bounds "samples"
  return values[count];
}
__global__ void in_a_function(const float* in, float* out, int count) {
  __shared__ float samples[32], scale[4];
  samples[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 4) scale[threadIdx.x] = 1;
  __syncthreads();
  // VIA in_a_function last_of
  out[threadIdx.x] = last_of(samples, count) * scale[0];
}

__global__ void copied_beyond(const float4* in, float4* out, int shift) {
  __shared__ float4 tile[32], behind[4];
  if (threadIdx.x < 4) behind[threadIdx.x] = in[0];
  __syncthreads();
  // FAULT copied_beyond RL0202 out-of-bounds "it is at tile[32]"
  __pipeline_memcpy_async(&tile[threadIdx.x + shift], &in[threadIdx.x], sizeof(float4));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  // ALSO copied_beyond RL0206 uninitialized-read
  out[threadIdx.x] = tile[31 - threadIdx.x];
  if (threadIdx.x == 0) out[32] = behind[1];
}

/// From the end of what is static into the dynamic part.
__global__ void into_dynamic(const int* in, int* out, int past) {
  extern __shared__ int scratch[];
  __shared__ int counts[32];
  counts[threadIdx.x] = in[threadIdx.x];
  scratch[threadIdx.x] = 0;
  __syncthreads();
  // FAULT into_dynamic RL0202 out-of-bounds "it is at counts[32]"
  out[threadIdx.x] = counts[threadIdx.x + past] + scratch[threadIdx.x];
}

template <auto kernel>
void floats(bool wrong) {
  kernel<<<1, 32>>>(zeros<float>(64), zeros<float>(32), wrong ? 1 : 0);
}

int* numbers(int count) {
  std::vector<int> values(count);
  for (int i = 0; i < count; ++i) values[i] = i;
  int* memory = zeros<int>(count);
  cudaMemcpy(memory, values.data(), count * sizeof(int), cudaMemcpyHostToDevice);
  return memory;
}

const std::vector<Fault> faults{
    {"one_past_into_next", floats<one_past_into_next>},
    {"before_the_second", floats<before_the_second>},
    {"halo_store",
     [](bool wrong) { halo_store<<<1, 32>>>(zeros<float>(32), zeros<float>(32), 1 + wrong); }},
    {"last_row", [](bool wrong) { last_row<<<1, 16>>>(numbers(80), zeros<int>(16), 4 + wrong); }},
    {"pointer_in_a_loop",
     [](bool wrong) { pointer_in_a_loop<<<1, 16>>>(numbers(16), zeros<int>(16), 16 + wrong); }},
    {"bin_out_of_range",
     [](bool wrong) { bin_out_of_range<<<1, 9>>>(numbers(9), zeros<int>(8), wrong); }},
    {"in_a_function",
     [](bool wrong) { in_a_function<<<1, 32>>>(zeros<float>(32), zeros<float>(32), 31 + wrong); }},
    {"copied_beyond",
     [](bool wrong) { copied_beyond<<<1, 32>>>(zeros<float4>(32), zeros<float4>(33), wrong); }},
    {"into_dynamic",
     [](bool wrong) { into_dynamic<<<1, 32, 128>>>(numbers(32), zeros<int>(32), wrong); }},
};

}  // namespace

int main(int count, char** arguments) { return run_faults(faults, count, arguments); }

#include <cuda_fp16.h>
#include <mma.h>

#include "fault.h"

/// Accesses outside of what was allocated or declared, and misaligned ones.
namespace {

__global__ void one_past(int* data, int count) {
  const int i = static_cast<int>(threadIdx.x);
  // FAULT one_past RL0201 out-of-bounds "the first byte past the end"
  if (i < count) data[i] = i;
}

__global__ void one_before(const int* data, int* out, int back) {
  const int i = static_cast<int>(threadIdx.x);
  // FAULT one_before RL0201 out-of-bounds "4 bytes before the start"
  out[i] = data[i - back];
}

__global__ void in_the_gap(int* data, int stride) {
  // FAULT in_the_gap RL0201 out-of-bounds
  data[threadIdx.x * stride] = 1;
}

__global__ void after_free(int* data) {
  // FAULT after_free RL0201 out-of-bounds "which has been freed"
  data[threadIdx.x] = 1;
}

__global__ void read_after_free(const int* data, int* out) {
  // FAULT read_after_free RL0201 out-of-bounds
  out[threadIdx.x] = data[threadIdx.x];
}

__global__ void null_pointer(int* data) {
  // FAULT null_pointer RL0201 out-of-bounds "null pointer"
  data[threadIdx.x] = 1;
}

__global__ void host_pointer(int* data) {
  // FAULT host_pointer RL0201 out-of-bounds "no address of device memory"
  data[threadIdx.x] = 1;
}

__global__ void vector_load(const float4* data, float* out) {
  // FAULT vector_load RL0201 out-of-bounds "reaches 8 bytes"
  const float4 four = data[threadIdx.x];
  out[threadIdx.x] = four.x + four.y + four.z + four.w;
}

__global__ void atomic_past(int* bins, int value) {
  // FAULT atomic_past RL0201 out-of-bounds
  atomicAdd(&bins[value], 1);
}

__global__ void two_dimensions(float* image, int width, int height) {
  const unsigned x = threadIdx.x, y = threadIdx.y;
  // FAULT two_dimensions RL0201 out-of-bounds
  image[x * width + y] = 1;
}

__global__ void rounded_up_grid(float* data, int count, bool wrong) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  // FAULT rounded_up_grid RL0201 out-of-bounds
  if (i < count || wrong) data[i] *= 2;
}

__constant__ int table[16];
__global__ void constant_past(int* out, int offset) {
  // FAULT constant_past RL0201 out-of-bounds "(table)"
  out[threadIdx.x] = table[threadIdx.x + offset];
}

__device__ int variable[8];
__global__ void variable_past(int offset) {
  // FAULT variable_past RL0201 out-of-bounds "(variable)"
  variable[threadIdx.x + offset] = 1;
}

struct Particle {
  double x;
  int cell;
};
__global__ void member_past(Particle* particles, int count) {
  for (int i = 0; i < count; ++i) {
    // FAULT member_past RL0201 out-of-bounds
    particles[i].x = 1;
    particles[i].cell = i;
  }
}

__global__ void shared_past(int* out, int offset) {
  __shared__ int row[64];
  // FAULT shared_past RL0202 out-of-bounds "outside of shared int row[64]"
  row[threadIdx.x + offset] = 1;
  __syncthreads();
  out[threadIdx.x] = row[threadIdx.x];
}

__global__ void shared_before(int* out, int back) {
  __shared__ int row[64];
  row[threadIdx.x] = 1;
  __syncthreads();
  const int i = static_cast<int>(threadIdx.x);
  // FAULT shared_before RL0202 out-of-bounds "before the start"
  out[i] = row[i - back];
}

__global__ void dynamic_shared_past(float* out) {
  extern __shared__ float tile[];
  // FAULT dynamic_shared_past RL0202 out-of-bounds
  tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void shared_atomic_past(int* out, int bin) {
  __shared__ int bins[32];
  bins[threadIdx.x] = 0;
  __syncthreads();
  // FAULT shared_atomic_past RL0202 out-of-bounds
  atomicAdd(&bins[bin], 1);
  __syncthreads();
  out[threadIdx.x] = bins[threadIdx.x];
}

__global__ void local_past(int* out, int index) {
  int own[8] = {};
  // FAULT local_past RL0203 out-of-bounds
  own[index] = 1;
  out[threadIdx.x] = own[index & 7];
}

__global__ void misaligned_int(char* bytes, int offset) {
  // FAULT misaligned_int RL0204 misaligned
  *reinterpret_cast<int*>(bytes + offset) = 1;
}

__global__ void misaligned_vector(const float* data, float4* out, int offset) {
  // FAULT misaligned_vector RL0204 misaligned
  *out = *reinterpret_cast<const float4*>(data + offset);
}

__global__ void misaligned_shared(double* out, int offset) {
  __shared__ __align__(8) char bytes[64];
  auto* number = reinterpret_cast<double*>(bytes + offset);
  // FAULT misaligned_shared RL0204 misaligned
  *number = 1;
  *out = *number;
}

__global__ void misaligned_tile(const __half* data, float* out, int leading_dimension) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> tile;
  // FAULT misaligned_tile RL0204 misaligned "40 bytes apart"
  wmma::load_matrix_sync(tile, data, leading_dimension);
  out[threadIdx.x] = __half2float(tile.x[0]);
}

__device__ void store(float* data, int i, float value) {
  // FAULT in_a_function RL0201 out-of-bounds
  data[i] = value;
}
__device__ void store_row(float* data, int count, float value) {
  for (int i = 0; i < count; ++i) {
    // VIA in_a_function store
    store(data, i, value);
  }
}
__global__ void in_a_function(float* data, int count) {
  // VIA in_a_function store_row
  store_row(data, count, 2);
}

const std::vector<Fault> faults{
    {"one_past", [](bool wrong) { one_past<<<1, 64>>>(zeros<int>(63), 63 + wrong); }},
    {"one_before",
     [](bool wrong) { one_before<<<1, 32>>>(zeros<int>(32), zeros<int>(32), wrong); }},
    {"in_the_gap",
     [](bool wrong) {
       int* data = zeros<int>(32);
       zeros<int>(1024);
       in_the_gap<<<1, 32>>>(data, 1 + wrong);
     }},
    {"after_free",
     [](bool wrong) {
       int* data = zeros<int>(32);
       if (wrong) cudaFree(data);
       after_free<<<1, 32>>>(data);
     }},
    {"read_after_free",
     [](bool wrong) {
       int* data = zeros<int>(32);
       int* out = zeros<int>(32);
       if (wrong) cudaFreeAsync(data, nullptr);
       read_after_free<<<1, 32>>>(data, out);
     }},
    {"null_pointer", [](bool wrong) { null_pointer<<<1, 32>>>(wrong ? nullptr : zeros<int>(32)); }},
    {"host_pointer",
     [](bool wrong) {
       static int on_host[32];
       host_pointer<<<1, 32>>>(wrong ? on_host : zeros<int>(32));
     }},
    {"vector_load",
     [](bool wrong) {
       auto* data = reinterpret_cast<float4*>(zeros<float>(128 - 2 * wrong));
       vector_load<<<1, 32>>>(data, zeros<float>(32));
     }},
    {"atomic_past", [](bool wrong) { atomic_past<<<1, 32>>>(zeros<int>(10), 9 + wrong); }},
    {"two_dimensions",
     [](bool wrong) {
       two_dimensions<<<1, wrong ? dim3(16, 8) : dim3(8, 16)>>>(zeros<float>(128), 16, 8);
     }},
    {"rounded_up_grid",
     [](bool wrong) { rounded_up_grid<<<4, 32>>>(zeros<float>(100), 100, wrong); }},
    {"constant_past", [](bool wrong) { constant_past<<<1, 8>>>(zeros<int>(8), 8 + wrong); }},
    {"variable_past", [](bool wrong) { variable_past<<<1, 4>>>(4 + wrong); }},
    {"member_past", [](bool wrong) { member_past<<<1, 1>>>(zeros<Particle>(10), 10 + wrong); }},
    {"shared_past", [](bool wrong) { shared_past<<<1, 64>>>(zeros<int>(64), wrong); }},
    {"shared_before", [](bool wrong) { shared_before<<<1, 64>>>(zeros<int>(64), wrong); }},
    {"dynamic_shared_past",
     [](bool wrong) {
       dynamic_shared_past<<<1, 64, 64 * (wrong ? 2 : sizeof(float))>>>(zeros<float>(64));
     }},
    {"shared_atomic_past",
     [](bool wrong) { shared_atomic_past<<<1, 32>>>(zeros<int>(32), 31 + wrong); }},
    {"local_past", [](bool wrong) { local_past<<<1, 32>>>(zeros<int>(32), 7 + wrong); }},
    {"misaligned_int", [](bool wrong) { misaligned_int<<<1, 1>>>(zeros<char>(64), 4 - wrong); }},
    {"misaligned_vector",
     [](bool wrong) { misaligned_vector<<<1, 1>>>(zeros<float>(8), zeros<float4>(1), 4 - wrong); }},
    {"misaligned_shared",
     [](bool wrong) { misaligned_shared<<<1, 1>>>(zeros<double>(1), wrong ? 4 : 8); }},
    {"misaligned_tile",
     [](bool wrong) {
       misaligned_tile<<<1, 32>>>(zeros<__half>(512), zeros<float>(32), wrong ? 20 : 24);
     }},
    {"in_a_function", [](bool wrong) { in_a_function<<<1, 1>>>(zeros<float>(16), 16 + wrong); }},
};

}  // namespace

int main(int count, char** arguments) { return run_faults(faults, count, arguments); }

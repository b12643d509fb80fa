#include "fault.h"

/// Blocks, and launches, that touch global memory without order.
namespace {

__global__ void neighbours_element(float* data, const float* before, int count, bool wrong) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const float* from = wrong ? data : before;
  // FAULT neighbours_element RL0304 global-race
  const float left = i > 0 ? from[i - 1] : 0;
  // WITH neighbours_element
  data[i] = left + 1;
}

__global__ void sum_without_atomics(float* sum, bool wrong) {
  if (threadIdx.x != 0) return;
  if (wrong) {
    // FAULT sum_without_atomics RL0304 global-race
    *sum += 1;
  } else {
    atomicAdd(sum, 1.0f);
  }
}

__global__ void histogram(const int* values, int* bins, bool wrong) {
  const int bin = values[blockIdx.x] & 3;
  if (wrong) {
    // FAULT histogram RL0304 global-race
    ++bins[bin];
  } else {
    atomicAdd(&bins[bin], 1);
  }
}

__global__ void overlapping_tiles(int* out, int step) {
  // FAULT overlapping_tiles RL0304 global-race
  out[blockIdx.x * step + threadIdx.x] = static_cast<int>(blockIdx.x);
}

__global__ void transpose_in_place(float* square, float* out, int size) {
  const unsigned x = blockIdx.x, y = threadIdx.x;
  // FAULT transpose_in_place RL0304 global-race
  out[y * size + x] = square[x * size + y];
}

__global__ void flag_without_fence(int* data, int* flag, int* out, bool wrong) {
  if (blockIdx.x == 0) {
    // WITH flag_without_fence
    *data = 42;
    if (!wrong) __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    // FAULT flag_without_fence RL0304 global-race
    *out = *data;
  }
}

/// A flag may be volatile, but not a plain store.
__global__ void plain_flag(int* data, int* flag, int* out, bool wrong) {
  if (blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    if (wrong) {
      // WITH plain_flag
      *flag = 1;
    } else {
      *static_cast<volatile int*>(flag) = 1;
    }
  } else {
    // FAULT plain_flag RL0304 global-race
    while (*static_cast<volatile int*>(flag) == 0) {
    }
    __threadfence();
    // ALSO plain_flag RL0304 global-race
    *out = *data;
  }
}

/// The last block to finish adds up what all have left.
__global__ void last_block(float* parts, unsigned* done, float* sum, bool wrong) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    // WITH last_block
    parts[blockIdx.x] = 1;
    if (!wrong) __threadfence();
    is_last = atomicAdd(done, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    float total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) {
      // FAULT last_block RL0304 global-race
      total += parts[i];
    }
    *sum = total;
    *done = 0;  // for the next launch
  }
}

/// Without waiting for the others at all.
__global__ void first_block_adds(float* parts, float* sum, bool wrong) {
  // FAULT first_block_adds RL0304 global-race
  parts[blockIdx.x] = 1;
  if (!wrong || blockIdx.x != 0) return;
  float total = 0;
  // WITH first_block_adds
  for (unsigned i = 0; i < gridDim.x; ++i) total += parts[i];
  *sum = total;
}

__global__ void stored_first(float* data) {
  // WITH two_streams
  data[threadIdx.x] = 1;
}
__global__ void two_streams(const float* data, float* out) {
  // FAULT two_streams RL0315 global-race "nothing orders the two"
  out[threadIdx.x] = data[threadIdx.x];
}

__global__ void stored_beside(float* data) {
  // WITH copy_beside_kernel
  data[threadIdx.x] = 1;
}
/// FAULT copy_beside_kernel RL0315 global-race host "a copy from the device"
/// FAULT memset_beside_copy RL0315 global-race host "a memset on stream"

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

int* some_values(std::size_t count) { return zeros<int>(count); }

const std::vector<Fault> faults{
    {"neighbours_element",
     [](bool wrong) {
       neighbours_element<<<4, 32>>>(zeros<float>(128), zeros<float>(128), 128, wrong);
     }},
    {"sum_without_atomics",
     [](bool wrong) { sum_without_atomics<<<4, 32>>>(zeros<float>(1), wrong); }},
    {"histogram", [](bool wrong) { histogram<<<8, 1>>>(some_values(8), zeros<int>(4), wrong); }},
    {"overlapping_tiles",
     [](bool wrong) { overlapping_tiles<<<4, 32>>>(zeros<int>(128), wrong ? 31 : 32); }},
    {"transpose_in_place",
     [](bool wrong) {
       float* square = zeros<float>(256);
       transpose_in_place<<<16, 16>>>(square, wrong ? square : zeros<float>(256), 16);
     }},
    {"flag_without_fence",
     [](bool wrong) {
       flag_without_fence<<<2, 1>>>(zeros<int>(1), zeros<int>(1), zeros<int>(1), wrong);
     }},
    {"plain_flag",
     [](bool wrong) { plain_flag<<<2, 1>>>(zeros<int>(1), zeros<int>(1), zeros<int>(1), wrong); }},
    {"last_block",
     [](bool wrong) {
       last_block<<<4, 32>>>(zeros<float>(4), zeros<unsigned>(1), zeros<float>(1), wrong);
     }},
    {"first_block_adds",
     [](bool wrong) { first_block_adds<<<4, 1>>>(zeros<float>(4), zeros<float>(1), wrong); }},
    {"two_streams",
     [](bool wrong) {
       float* data = zeros<float>(32);
       float* out = zeros<float>(32);
       const cudaStream_t one = new_stream(), other = new_stream();
       cudaDeviceSynchronize();
       cudaEvent_t done = nullptr;
       cudaEventCreate(&done);
       stored_first<<<1, 32, 0, one>>>(data);
       cudaEventRecord(done, one);
       if (!wrong) cudaStreamWaitEvent(other, done, 0);
       two_streams<<<1, 32, 0, other>>>(data, out);
     }},
    {"copy_beside_kernel",
     [](bool wrong) {
       float* data = zeros<float>(32);
       float* on_host = nullptr;
       cudaMallocHost(&on_host, 32 * sizeof(float));
       const cudaStream_t one = new_stream(), other = new_stream();
       cudaDeviceSynchronize();
       stored_beside<<<1, 32, 0, one>>>(data);
       if (!wrong) cudaStreamSynchronize(one);
       cudaMemcpyAsync(on_host, data, 32 * sizeof(float), cudaMemcpyDeviceToHost, other);
     }},
    {"memset_beside_copy",
     [](bool wrong) {
       char* data = zeros<char>(64);
       char* on_host = nullptr;
       cudaMallocHost(&on_host, 64);
       const cudaStream_t one = new_stream(), other = new_stream();
       cudaDeviceSynchronize();
       cudaMemcpyAsync(data, on_host, 36, cudaMemcpyHostToDevice, one);
       cudaMemsetAsync(data + (wrong ? 32 : 36), 0, 28, other);
     }},
};

}  // namespace

int main(int count, char** arguments) { return run_faults(faults, count, arguments); }

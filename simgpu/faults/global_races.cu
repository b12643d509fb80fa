#include <cooperative_groups.h>

#include "fault.h"

/// Blocks, and launches, that touch global memory without order.
namespace {

__global__ void neighbours_element(float* data, const float* before, int count, bool wrong) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const float* from = wrong ? data : before;
  // FAULT neighbours_element RL0304 global-race
  const float left = i > 0 ? from[i - 1] : 0;
  // WITH neighbours_element
  // ALSO neighbours_element RL0316 global-race
  data[i] = left + 1;
}

/// Threads of one block, each with its right neighbour's old element.
__global__ void shifted_in_block(float* data, bool wrong) {
  // WITH shifted_in_block
  const float right = data[threadIdx.x + 1];
  if (!wrong) __syncthreads();
  // FAULT shifted_in_block RL0316 global-race "no barrier orders them"
  data[threadIdx.x] = right;
}

/// A tree of sums whose partials lie in global memory.
__global__ void partials_in_block(float* partials, float* sum, bool wrong) {
  // FAULT partials_in_block RL0316 global-race
  partials[threadIdx.x] = static_cast<float>(threadIdx.x);
  if (!wrong) cooperative_groups::this_thread_block().sync();
  if (threadIdx.x != 0) return;
  float total = 0;
  for (int warp = 0; warp < 4; ++warp) {
    // WITH partials_in_block
    total += partials[32 * warp];
  }
  *sum = total;
}

/// Lanes of one warp.
__global__ void lanes_in_global(int* data, int* out, bool wrong) {
  // WITH lanes_in_global
  data[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (!wrong) __syncwarp();
  // FAULT lanes_in_global RL0316 global-race
  out[threadIdx.x] = data[31 - threadIdx.x];
}

/// One warp tells another by a flag in shared memory.
__global__ void flag_in_block(int* data, int* out, bool wrong) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    // WITH flag_in_block
    *data = 42;
    if (!wrong) __threadfence_block();
    atomicExch(&flag, 1);
  } else if (threadIdx.x == 32) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    __threadfence_block();
    // FAULT flag_in_block RL0316 global-race
    *out = *data;
  }
}

/// A counter that one thread sets back while others still count.
__global__ void zeroed_beside_atomics(int* count, int* out, bool wrong) {
  // WITH zeroed_beside_atomics
  atomicAdd(count, 1);
  if (!wrong) __syncthreads();
  if (threadIdx.x != 32) return;
  *out = atomicAdd(count, 0);
  // FAULT zeroed_beside_atomics RL0316 global-race
  *count = 0;
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

/// Tiles that overlap, whose blocks store the same where they do; or of which one byte differs.
__global__ void same_value_twice(int* out, bool wrong) {
  const int i = static_cast<int>(blockIdx.x * 24 + threadIdx.x);
  // FAULT same_value_twice RL0304 global-race
  out[i] = wrong ? i + static_cast<int>(blockIdx.x << 16) : i;
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

/// Between two waits of the whole grid: each block takes what its neighbour stores.
__global__ void between_grid_syncs(int* data, int* out, bool wrong) {
  const unsigned next = (blockIdx.x + 1) % gridDim.x;
  data[blockIdx.x] = 0;
  cooperative_groups::this_grid().sync();
  // FAULT between_grid_syncs RL0304 global-race
  data[blockIdx.x] = 1;
  if (!wrong) cooperative_groups::this_grid().sync();
  // WITH between_grid_syncs
  // ALSO between_grid_syncs RL0304 global-race
  const int taken = data[next];
  cooperative_groups::this_grid().sync();
  out[blockIdx.x] = taken;
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
__global__ void still_in_use(float* data) {
  // WITH freed_beside_kernel
  data[threadIdx.x] = 1;
}
/// FAULT freed_beside_kernel RL0315 global-race host "frees what kernel"
/// FAULT memset_beside_copy RL0315 global-race host "a memset on stream"

__global__ void node_before(float* data) {
  // WITH graph_branches
  data[threadIdx.x] = 1;
}
__global__ void graph_branches(const float* data, float* out) {
  // FAULT graph_branches RL0317 global-race "no path of edges"
  out[threadIdx.x] = data[threadIdx.x];
}

/// A graph of two kernels, the second behind the first or beside it.
void run_branches(bool wrong) {
  float* data = zeros<float>(32);
  float* out = zeros<float>(32);
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t before = nullptr, behind = nullptr;
  void* of_before[] = {&data};
  void* of_behind[] = {&data, &out};
  cudaKernelNodeParams kernel{};
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(32);
  kernel.func = reinterpret_cast<void*>(node_before);
  kernel.kernelParams = of_before;
  cudaGraphAddKernelNode(&before, graph, nullptr, 0, &kernel);
  kernel.func = reinterpret_cast<void*>(graph_branches);
  kernel.kernelParams = of_behind;
  cudaGraphAddKernelNode(&behind, graph, &before, wrong ? 0 : 1, &kernel);
  cudaGraphExec_t ready = nullptr;
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, nullptr);
  cudaGraphLaunch(ready, nullptr);  // behind the first launch
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}

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
    {"shifted_in_block",
     [](bool wrong) { shifted_in_block<<<1, 128>>>(zeros<float>(129), wrong); }},
    {"partials_in_block",
     [](bool wrong) { partials_in_block<<<1, 128>>>(zeros<float>(128), zeros<float>(1), wrong); }},
    {"lanes_in_global",
     [](bool wrong) { lanes_in_global<<<1, 32>>>(zeros<int>(32), zeros<int>(32), wrong); }},
    {"flag_in_block",
     [](bool wrong) { flag_in_block<<<1, 64>>>(zeros<int>(1), zeros<int>(1), wrong); }},
    {"zeroed_beside_atomics",
     [](bool wrong) { zeroed_beside_atomics<<<1, 64>>>(zeros<int>(1), zeros<int>(1), wrong); }},
    {"sum_without_atomics",
     [](bool wrong) { sum_without_atomics<<<4, 32>>>(zeros<float>(1), wrong); }},
    {"histogram", [](bool wrong) { histogram<<<8, 1>>>(some_values(8), zeros<int>(4), wrong); }},
    {"overlapping_tiles",
     [](bool wrong) { overlapping_tiles<<<4, 32>>>(zeros<int>(128), wrong ? 31 : 32); }},
    {"same_value_twice", [](bool wrong) { same_value_twice<<<4, 32>>>(zeros<int>(128), wrong); }},
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
    {"between_grid_syncs",
     [](bool wrong) {
       int* data = zeros<int>(4);
       int* out = zeros<int>(4);
       void* arguments[] = {&data, &out, &wrong};
       cudaLaunchCooperativeKernel(reinterpret_cast<void*>(between_grid_syncs), dim3(4), dim3(1),
                                   arguments, 0, nullptr);
     }},
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
    {"graph_branches", run_branches},
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
    {"freed_beside_kernel",
     [](bool wrong) {
       const cudaStream_t one = new_stream(), other = new_stream();
       float* data = nullptr;
       cudaMallocAsync(&data, 32 * sizeof(float), one);
       still_in_use<<<1, 32, 0, one>>>(data);
       cudaEvent_t used = nullptr;
       cudaEventCreate(&used);
       cudaEventRecord(used, one);
       if (!wrong) cudaStreamWaitEvent(other, used, 0);
       cudaFreeAsync(data, other);
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

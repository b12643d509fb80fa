#include "fault.h"

/// Reads of memory that nothing has been written to.
namespace {

__global__ void never_written(const float* in, float* out) {
  // FAULT never_written RL0205 uninitialized-read
  out[threadIdx.x] = in[threadIdx.x];
}

__global__ void half_written(const float* in, float* out) {
  // FAULT half_written RL0205 uninitialized-read
  out[threadIdx.x] = in[threadIdx.x];
}

__global__ void add_to_output(float* out) {
  // FAULT add_to_output RL0205 uninitialized-read
  out[threadIdx.x] += 1;
}

__global__ void count_up(int* counter) {
  // FAULT count_up RL0205 uninitialized-read
  atomicAdd(counter, 1);
}

__global__ void write_bytes(char* bytes, int count) {
  const int i = static_cast<int>(threadIdx.x);
  if (i % 4 < count) bytes[i] = 1;
}
__global__ void part_of_a_word(const int* words, int* out) {
  // FAULT part_of_a_word RL0205 uninitialized-read
  out[threadIdx.x] = words[threadIdx.x] + 1;
}

__global__ void fill_all_but(float* data, int count) {
  if (threadIdx.x < count) data[threadIdx.x] = 1;
}
__global__ void last_element(const float* data, float* sum) {
  float total = 0;
  // FAULT last_element RL0205 uninitialized-read
  for (int i = 0; i < 32; ++i) total += data[i];
  *sum = total;
}

__global__ void copied_on_device(const float* data, float* out) {
  // FAULT copied_on_device RL0205 uninitialized-read
  out[threadIdx.x] = data[threadIdx.x];
}

__global__ void allocated_again(const float* data, float* out) {
  // FAULT allocated_again RL0205 uninitialized-read
  out[threadIdx.x] = data[threadIdx.x];
}

__global__ void from_the_pool(const float* data, float* out) {
  // FAULT from_the_pool RL0205 uninitialized-read
  out[threadIdx.x] = data[threadIdx.x];
}

struct Padded {
  char kind;  // three bytes of padding follow
  int value;
  double weight;
};
__global__ void fill_members(Padded* items, bool all) {
  Padded& item = items[threadIdx.x];
  item.kind = 'a';
  item.value = 3;
  if (all) item.weight = 0.5;
}
__global__ void struct_member(const Padded* items, Padded* out) {
  // FAULT struct_member RL0205 uninitialized-read
  out[threadIdx.x] = items[threadIdx.x];
}

__global__ void shared_never_written(float* out, bool wrong) {
  __shared__ float tile[64];
  if (!wrong) tile[threadIdx.x] = 1;
  __syncthreads();
  // FAULT shared_never_written RL0206 uninitialized-read
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void shared_partial_tile(const float* in, float* out, int count, bool wrong) {
  __shared__ float tile[64];
  const int i = static_cast<int>(threadIdx.x);
  if (i < count) {
    tile[i] = in[i];
  } else if (!wrong) {
    tile[i] = 0;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 64; ++k)
    // FAULT shared_partial_tile RL0206 uninitialized-read
    sum += tile[k];
  if (i < count) out[i] = sum;
}

/// A warp that has left counts as arrived at barriers, but has stored nothing.
__global__ void early_return(const float* in, float* out, int count, bool wrong) {
  __shared__ float tile[64];
  const int i = static_cast<int>(threadIdx.x);
  if (wrong && i >= count) return;
  tile[i] = i < count ? in[i] : 0;
  __syncthreads();
  // FAULT early_return RL0206 uninitialized-read
  if (i < count) out[i] = tile[(i + 1) % 64];
}

__global__ void shared_accumulator(int* out, bool wrong) {
  __shared__ int sum;
  if (!wrong && threadIdx.x == 0) sum = 0;
  __syncthreads();
  // FAULT shared_accumulator RL0206 uninitialized-read
  atomicAdd(&sum, 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}

__global__ void dynamic_shared_offset(float* out, int offset) {
  extern __shared__ float memory[];
  float* second = memory + offset;
  second[threadIdx.x] = 1;
  __syncthreads();
  // FAULT dynamic_shared_offset RL0206 uninitialized-read
  out[threadIdx.x] = memory[32 + threadIdx.x];
}

__global__ void local_array(int* out, int written, int index) {
  int own[8];
  for (int i = 0; i < written; ++i) own[i] = i;
  // FAULT local_array RL0208 uninitialized-read
  out[threadIdx.x] = own[index];
}

/// FAULT copy_to_host RL0205 uninitialized-read host "a copy from the device"
/// FAULT last_tile_to_host RL0205 uninitialized-read host "a copy from the device"
__global__ void fill_tiles(float* data) { data[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

// What nothing has been assigned to in any iteration: where paths meet outside of a loop, nvcc
// takes the value of the one that has one.
__global__ void sum_without_a_start(const float* data, float* out, int first) {
  float sum;
  for (int i = first; i < 32; ++i) {
    if (i == 0) sum = 0;
    // FAULT sum_without_a_start RL0211 uninitialized-read "uses sum before"
    sum += data[i];
  }
  out[threadIdx.x] = sum;
}

__global__ void last_accumulator(const float* data, float* out, int count, int rows) {
  float sums[4];
  for (int row = 0; row < rows; ++row) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (row == 0 && i < count) sums[i] = 0;
      // FAULT last_accumulator RL0211 uninitialized-read "uses sums before"
      sums[i] += data[4 * row + i];
    }
  }
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = sums[i];
}

__global__ void index_on_one_path(const float* data, int* out, int count, float most) {
  int best;
  for (int i = 0; i < count; ++i) {
    if (data[i] > most) best = i;
  }
  // FAULT index_on_one_path RL0211 uninitialized-read "uses best before"
  out[threadIdx.x] = best;
}

const std::vector<Fault> faults{
    {"never_written",
     [](bool wrong) {
       never_written<<<1, 32>>>(wrong ? unwritten<float>(32) : zeros<float>(32), zeros<float>(32));
     }},
    {"half_written",
     [](bool wrong) {
       float* data = unwritten<float>(32);
       cudaMemset(data, 0, 32 * (wrong ? 2 : sizeof(float)));
       half_written<<<1, 32>>>(data, zeros<float>(32));
     }},
    {"add_to_output",
     [](bool wrong) { add_to_output<<<1, 32>>>(wrong ? unwritten<float>(32) : zeros<float>(32)); }},
    {"count_up",
     [](bool wrong) { count_up<<<1, 32>>>(wrong ? unwritten<int>(1) : zeros<int>(1)); }},
    {"part_of_a_word",
     [](bool wrong) {
       int* words = unwritten<int>(8);
       write_bytes<<<1, 32>>>(reinterpret_cast<char*>(words), 4 - wrong);
       part_of_a_word<<<1, 8>>>(words, zeros<int>(8));
     }},
    {"last_element",
     [](bool wrong) {
       float* data = unwritten<float>(32);
       fill_all_but<<<1, 32>>>(data, 32 - wrong);
       last_element<<<1, 1>>>(data, zeros<float>(1));
     }},
    {"copied_on_device",
     [](bool wrong) {
       float* from = wrong ? unwritten<float>(32) : zeros<float>(32);
       float* to = zeros<float>(32);
       cudaMemcpy(to, from, 32 * sizeof(float), cudaMemcpyDeviceToDevice);
       copied_on_device<<<1, 32>>>(to, zeros<float>(32));
     }},
    {"allocated_again",
     [](bool wrong) {
       float* data = zeros<float>(32);
       if (wrong) {
         cudaFree(data);
         data = unwritten<float>(32);
       }
       allocated_again<<<1, 32>>>(data, zeros<float>(32));
     }},
    {"from_the_pool",
     [](bool wrong) {
       float* data = nullptr;
       cudaMallocAsync(&data, 32 * sizeof(float), nullptr);
       if (!wrong) cudaMemsetAsync(data, 0, 32 * sizeof(float), nullptr);
       from_the_pool<<<1, 32>>>(data, zeros<float>(32));
     }},
    {"struct_member",
     [](bool wrong) {
       auto* items = unwritten<Padded>(32);
       auto* out = unwritten<Padded>(32);
       fill_members<<<1, 32>>>(items, !wrong);
       struct_member<<<1, 32>>>(items, out);
       std::vector<Padded> on_host(32);  // with its padding, which nobody has written to
       if (!wrong) {
         cudaMemcpy(on_host.data(), out, 32 * sizeof(Padded), cudaMemcpyDeviceToHost);
       }
     }},
    {"shared_never_written",
     [](bool wrong) { shared_never_written<<<1, 64>>>(zeros<float>(64), wrong); }},
    {"shared_partial_tile",
     [](bool wrong) {
       shared_partial_tile<<<1, 64>>>(zeros<float>(50), zeros<float>(50), 50, wrong);
     }},
    {"early_return",
     [](bool wrong) { early_return<<<1, 64>>>(zeros<float>(32), zeros<float>(32), 32, wrong); }},
    {"shared_accumulator", [](bool wrong) { shared_accumulator<<<1, 64>>>(zeros<int>(1), wrong); }},
    {"dynamic_shared_offset",
     [](bool wrong) { dynamic_shared_offset<<<1, 32, 256>>>(zeros<float>(32), wrong ? 0 : 32); }},
    {"local_array", [](bool wrong) { local_array<<<1, 32>>>(zeros<int>(32), 8 - wrong, 7); }},
    {"sum_without_a_start",
     [](bool wrong) { sum_without_a_start<<<1, 32>>>(zeros<float>(32), zeros<float>(32), wrong); }},
    {"last_accumulator",
     [](bool wrong) {
       last_accumulator<<<1, 32>>>(zeros<float>(32), zeros<float>(128), 4 - wrong, 8);
     }},
    {"index_on_one_path",
     [](bool wrong) {
       index_on_one_path<<<1, 32>>>(zeros<float>(32), zeros<int>(32), 32, wrong ? 1.0F : -1.0F);
     }},
    {"copy_to_host",
     [](bool wrong) {
       float on_host[32];
       float* data = wrong ? unwritten<float>(32) : zeros<float>(32);
       cudaMemcpy(on_host, data, sizeof on_host, cudaMemcpyDeviceToHost);
     }},
    {"last_tile_to_host",
     [](bool wrong) {
       float on_host[100];
       float* data = unwritten<float>(128);
       fill_tiles<<<wrong ? 3 : 4, 32>>>(data);
       cudaMemcpy(on_host, data, sizeof on_host, cudaMemcpyDeviceToHost);
     }},
};

}  // namespace

int main(int count, char** arguments) { return run_faults(faults, count, arguments); }

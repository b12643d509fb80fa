#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cassert>
#include <cstdio>
#include <cstring>
#include <vector>

/// The examples on the pages of codes, each with what it takes for granted: `program CODE` runs
/// one. README.md tells more.
namespace {

constexpr int kThreads = 64;

/// Device memory that holds zeros.
template <typename T>
T* zeros(std::size_t count) {
  T* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  cudaMemset(memory, 0, count * sizeof(T));
  return memory;
}

/// Device memory that nothing has been written to.
template <typename T>
T* unwritten(std::size_t count) {
  T* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  return memory;
}

// ---- Memory ----

#include "RL0201.inc"
void out_of_bounds() { scale<<<2, kThreads>>>(zeros<float>(100), 100); }

__global__ void shared_out_of_bounds(float* out) {
#include "RL0202.inc"
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}

__global__ void local_out_of_bounds(const float* x, float* out, int count) {
#include "RL0203.inc"
  out[threadIdx.x] = part[static_cast<int>(x[threadIdx.x])];
}

__global__ void misaligned(const float* A, float* out, int row, int K) {
#include "RL0204.inc"
  out[threadIdx.x] = four.x + four.w;
}

__global__ void uninitialised_global(const float* x, float* C) {
  const int i = static_cast<int>(threadIdx.x);
  const float a = x[i], b = x[i];
#include "RL0205.inc"
}

__global__ void uninitialised_shared(const float* A, float* C, int M, int K, int j) {
  __shared__ float As[16][16], Bs[16][16];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int row = ty, k = tx;
  float acc = 0;
  Bs[ty][tx] = 1;
#include "RL0206.inc"
  C[ty * 16 + tx] = acc;
}

void host_dereferences(){
#include "RL0207.inc"
}

__global__ void uninitialised_local(const float* x, float* out, int count, int first) {
#include "RL0208.inc"
  out[threadIdx.x] = sum;
}

__global__ void variable_without_a_value(const float* a, const float* x, float* y, int K){
#include "RL0211.inc"
}

#include "RL0209.inc"
__global__ void endless_recursion(const int* tree, int* out) {
  out[threadIdx.x] = weigh(tree, 0);
}

#include "RL0210.inc"

// ---- Order ----

__global__ void overwritten(const float* x, float* out, int tiles) {
  __shared__ float tile[kThreads];
  const unsigned tx = threadIdx.x;
  float acc = 0;
#include "RL0301.inc"
  out[tx] = acc;
}

__global__ void read_too_early(const float* x, float* out) {
  __shared__ float tile[kThreads];
  const unsigned tx = threadIdx.x;
#include "RL0302.inc"
  out[tx] = y;
}

__global__ void many_stores(const float* x, float* out) {
#include "RL0303.inc"
  __syncthreads();
  out[threadIdx.x] = sum;
}

__global__ void blocks_without_order(float* y, float part) {
  const int row = 0;
  if (threadIdx.x == 0) {
#include "RL0304.inc"
  }
}

__global__ void barrier_in_a_branch(const float* x, float* y, int n) {
  __shared__ float tile[kThreads];
  const int tx = static_cast<int>(threadIdx.x), i = tx;
#include "RL0305.inc"
}

__global__ void deadlock(float* out) {
#include "RL0306.inc"
  out[threadIdx.x] = 1;
}

__global__ void factor_of_one(const float* x, float* out, int K, int factor) {
  float acc = 0;
#include "RL0307.inc"
  out[threadIdx.x] = acc;
}

__global__ void flag_never_set(int* flag){
#include "RL0307_2.inc"
}

__global__ void jumps_over_its_end(const float* x, float* out, unsigned K) {
  float acc = 0;
#include "RL0319.inc"
  out[threadIdx.x] = acc;
}

void wrong_direction() {
  std::vector<float> values(4);
  float *host = values.data(), *device = zeros<float>(4);
  const std::size_t bytes = 4 * sizeof(float);
#include "RL0308.inc"
}

void leak(std::size_t bytes, int n){
#include "RL0309.inc"
}

__global__ void assertion(int k, int K){
#include "RL0310.inc"
}

__global__ void trap(int k, int K){
#include "RL0311.inc"
}

__global__ void texture_unit(cudaTextureObject_t texture, float* out, float u, float v) {
#include "RL0312.inc"
  out[threadIdx.x] = four.x;
}

__global__ void copy_too_early(const float4* x, float4* out) {
  __shared__ float4 tile[128];
  const unsigned tx = threadIdx.x;
#include "RL0313.inc"
  out[tx] = y;
}

void never_asked() {
  const int n = 2048;
  float* data = zeros<float>(n);
#include "RL0314.inc"
}

__global__ void produce(int* data) { data[threadIdx.x] = 1; }
__global__ void consume(const int* data, int* out) { out[threadIdx.x] = data[threadIdx.x]; }

void two_streams() {
  const int grid = 1, block = kThreads;
  int *data = zeros<int>(kThreads), *out = zeros<int>(kThreads);
  cudaDeviceSynchronize();
  cudaStream_t first = nullptr, second = nullptr;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
#include "RL0315.inc"
}

void pinned_source() {
  constexpr int bytes = kThreads * sizeof(float);
  float* pinned = nullptr;
  float* const table = zeros<float>(kThreads);
  cudaMallocHost(&pinned, bytes);
  cudaStream_t stream = nullptr;
#include "RL0320.inc"
  cudaFreeHost(pinned);
}

__global__ void add_one(int* counter) { ++*counter; }

void early_result() {
  int* counter = nullptr;
  cudaMallocManaged(&counter, sizeof(int));
  *counter = 0;
#include "RL0321.inc"
  cudaDeviceSynchronize();
  cudaFree(counter);
}

__global__ void neighbours(int* data) {
  const unsigned i = threadIdx.x;
#include "RL0316.inc"
}

__global__ void sums_of_neighbours(float* sums, float* out) {
  const float value = static_cast<float>(threadIdx.x);
#include "RL0318.inc"
  out[threadIdx.x] = next;
}

cudaKernelNodeParams node_of(const void* kernel, void** arguments) {
  cudaKernelNodeParams node = {};
  node.func = const_cast<void*>(kernel);
  node.gridDim = dim3(1);
  node.blockDim = dim3(kThreads);
  node.kernelParams = arguments;
  return node;
}

void two_nodes() {
  int *data = zeros<int>(kThreads), *out = zeros<int>(kThreads);
  void *of_produce[] = {&data}, *of_consume[] = {&data, &out};
  const cudaKernelNodeParams writes_data =
      node_of(reinterpret_cast<const void*>(::produce), of_produce);
  const cudaKernelNodeParams reads_data =
      node_of(reinterpret_cast<const void*>(::consume), of_consume);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t produce = nullptr, consume = nullptr;
  cudaGraphCreate(&graph, 0);
#include "RL0317.inc"
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, nullptr);
}

// ---- Speed ----

__global__ void uncoalesced(const float* A, float* out, int K, int k) {
  float sum = 0;
#include "RL0501.inc"
  out[row] = sum;
}

__global__ void bank_conflicts(float* out, float x) {
#include "RL0502.inc"
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x][0];
}

__device__ int done[2];
__device__ __noinline__ void f() { atomicAdd(&done[0], 1); }
__device__ __noinline__ void g() { atomicAdd(&done[1], 1); }
__global__ void two_ways() {
#include "RL0503.inc"
}

struct Example {
  const char* name;
  void (*run)();
};

const Example kExamples[] = {
    {"RL0201", out_of_bounds},
    {"RL0202", [] { shared_out_of_bounds<<<1, dim3(32, 32)>>>(zeros<float>(1024)); }},
    {"RL0203", [] { local_out_of_bounds<<<1, 1>>>(zeros<float>(16), zeros<float>(1), 8); }},
    {"RL0204", [] { misaligned<<<1, 1>>>(zeros<float>(64), zeros<float>(1), 1, 5); }},
    {"RL0205",
     [] {
       uninitialised_global<<<1, kThreads>>>(zeros<float>(kThreads), unwritten<float>(kThreads));
     }},
    {"RL0206",
     [] {
       uninitialised_shared<<<1, dim3(16, 16)>>>(zeros<float>(160), zeros<float>(256), 16, 10, 15);
     }},
    {"RL0207", host_dereferences},
    {"RL0208", [] { uninitialised_local<<<1, 1>>>(zeros<float>(4), zeros<float>(1), 4, 0); }},
    {"RL0209", [] { endless_recursion<<<1, 1>>>(zeros<int>(1), zeros<int>(1)); }},
    {"RL0210", [] { run(zeros<float>(32)); }},
    {"RL0211",
     [] {
       variable_without_a_value<<<1, 1>>>(zeros<float>(4), zeros<float>(4), zeros<float>(1), 4);
     }},
    {"RL0301",
     [] { overwritten<<<1, kThreads>>>(zeros<float>(4 * kThreads), zeros<float>(kThreads), 4); }},
    {"RL0302",
     [] { read_too_early<<<1, kThreads>>>(zeros<float>(kThreads), zeros<float>(kThreads)); }},
    {"RL0303",
     [] {
       std::vector<float> values(256);
       for (int i = 0; i < 256; ++i) values[i] = static_cast<float>(i);
       float* x = zeros<float>(256);
       cudaMemcpy(x, values.data(), 1024, cudaMemcpyHostToDevice);
       many_stores<<<1, 256>>>(x, zeros<float>(256));
     }},
    {"RL0304", [] { blocks_without_order<<<4, 32>>>(zeros<float>(1), 1); }},
    {"RL0305",
     [] { barrier_in_a_branch<<<1, kThreads>>>(zeros<float>(40), zeros<float>(kThreads), 40); }},
    {"RL0306", [] { deadlock<<<1, kThreads>>>(zeros<float>(kThreads)); }},
    {"RL0307", [] { factor_of_one<<<1, 32>>>(zeros<float>(8), zeros<float>(32), 8, 1); }},
    {"RL0307_2", [] { flag_never_set<<<1, 1>>>(zeros<int>(1)); }},
    {"RL0308", wrong_direction},
    {"RL0309", [] { leak(1024, 0); }},
    {"RL0310", [] { assertion<<<1, 1>>>(32, 32); }},
    {"RL0311", [] { trap<<<1, 1>>>(32, 32); }},
    {"RL0312", [] { texture_unit<<<1, 1>>>(0, zeros<float>(1), 0, 0); }},
    {"RL0313", [] { copy_too_early<<<1, 128>>>(zeros<float4>(128), zeros<float4>(128)); }},
    {"RL0314", never_asked},
    {"RL0315", two_streams},
    {"RL0316", [] { neighbours<<<1, kThreads>>>(zeros<int>(kThreads + 1)); }},
    {"RL0317", two_nodes},
    {"RL0318",
     [] { sums_of_neighbours<<<1, kThreads>>>(zeros<float>(kThreads), zeros<float>(kThreads)); }},
    {"RL0319", [] { jumps_over_its_end<<<1, 32>>>(zeros<float>(8), zeros<float>(32), 8); }},
    {"RL0320", pinned_source},
    {"RL0321", early_result},
    {"RL0501", [] { uncoalesced<<<1, 32>>>(zeros<float>(32 * 64), zeros<float>(32), 64, 0); }},
    {"RL0502", [] { bank_conflicts<<<1, 32>>>(zeros<float>(32), 1); }},
    {"RL0503", [] { two_ways<<<1, 32>>>(); }},
};

}  // namespace

int main(int count, char** arguments) {
  for (const Example& example : kExamples) {
    if (count != 2 || std::strcmp(example.name, arguments[1]) != 0) continue;
    example.run();
    cudaDeviceSynchronize();
    return 0;
  }
  return 2;
}

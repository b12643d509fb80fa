#include "fault.h"

/// What host code does wrong: launches that cannot be, copies, pointers and handles. There is no
/// line of device code to name; FAULT comments say what the message holds.
namespace {

__global__ void fill(int* data) { data[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void __launch_bounds__(64) bounded(int* data) { data[threadIdx.x] = 1; }
__global__ void static_tile(int* data, int i) {
  __shared__ int tile[10'000];
  tile[threadIdx.x] = i;
  data[threadIdx.x] = tile[threadIdx.x];
}
__device__ int symbol[4];

void launched() { cudaGetLastError(); }  // the program asks, and so only the launch is wrong

/// FAULT too_many_threads RL0308 invalid-api-use host "is 1056 threads"
void too_many_threads(bool wrong) {
  fill<<<1, wrong ? 1056 : 1024>>>(zeros<int>(2048));
  launched();
}
/// FAULT block_too_deep RL0308 invalid-api-use host "at most 64 deep"
void block_too_deep(bool wrong) {
  fill<<<1, dim3(1, 1, wrong ? 65 : 64)>>>(zeros<int>(64));
  launched();
}
/// FAULT empty_grid RL0308 invalid-api-use host "must not have a zero"
void empty_grid(bool wrong) {
  const int count = 100;
  fill<<<wrong ? count / 128 : (count + 127) / 128, 128>>>(zeros<int>(128));
  launched();
}
/// FAULT grid_too_high RL0308 invalid-api-use host "65535 in y and z"
void grid_too_high(bool wrong) {
  const dim3 wide(16, 1), high(1, 65'536);
  fill<<<wrong ? high : wide, 32>>>(zeros<int>(512));
  launched();
}
/// FAULT dynamic_shared_unset RL0308 invalid-api-use host "cudaFuncSetAttribute"
void dynamic_shared_unset(bool wrong) {
  constexpr int kBytes = 64 * 1024;
  if (!wrong) cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  fill<<<1, 32, kBytes>>>(zeros<int>(32));
  launched();
}
/// FAULT shared_sum_too_large RL0308 invalid-api-use host "dynamic shared memory"
void shared_sum_too_large(bool wrong) {
  static_tile<<<1, 32, wrong ? 16 * 1024 : 4 * 1024>>>(zeros<int>(32), 1);
  launched();
}
/// FAULT over_launch_bounds RL0308 invalid-api-use host "__launch_bounds__ of 64"
void over_launch_bounds(bool wrong) {
  bounded<<<1, wrong ? 96 : 64>>>(zeros<int>(128));
  launched();
}
/// FAULT wrong_architecture RL0312 unsupported host "the PTX is for sm_120"
void wrong_architecture(bool wrong) {
  const char* text =
      wrong ? ".version 8.7\n.target sm_120\n.address_size 64\n.visible .entry k()\n{ ret; }\n"
            : ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{ ret; }\n";
  cudaLibrary_t library = nullptr;
  cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0);
}
/// FAULT nobody_asks RL0308 invalid-api-use host "is 2048 threads"
/// FAULT nobody_asks RL0314 invalid-api-use host "cudaErrorInvalidValue, and the program"
void nobody_asks(bool wrong) {
  fill<<<1, wrong ? 2048 : 1024>>>(zeros<int>(2048));
  cudaDeviceReset();
}
/// FAULT asked_too_late RL0308 invalid-api-use host "a block of 128 threads is over"
/// FAULT asked_too_late RL0314 invalid-api-use host "cudaErrorInvalidValue"
void asked_too_late(bool wrong) {
  bounded<<<1, wrong ? 128 : 64>>>(zeros<int>(128));
  cudaDeviceReset();
  cudaGetLastError();
}

int on_host[64];

/// FAULT to_device_reversed RL0308 invalid-api-use host "cudaMemcpyHostToDevice"
void to_device_reversed(bool wrong) {
  int* data = zeros<int>(64);
  cudaMemcpy(on_host, data, sizeof on_host,
             wrong ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
}
/// FAULT from_device_reversed RL0308 invalid-api-use host "cudaMemcpyDeviceToHost"
void from_device_reversed(bool wrong) {
  int* data = zeros<int>(64);
  cudaMemcpy(data, on_host, sizeof on_host,
             wrong ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice);
}
/// FAULT arguments_swapped RL0308 invalid-api-use host "destination is device memory"
void arguments_swapped(bool wrong) {
  int* data = zeros<int>(64);
  if (wrong) {
    cudaMemcpy(data, on_host, 128, cudaMemcpyDeviceToHost);
  } else {
    cudaMemcpy(on_host, data, 128, cudaMemcpyDeviceToHost);
  }
}
/// FAULT on_device_from_host RL0308 invalid-api-use host "cudaMemcpyDeviceToDevice"
void on_device_from_host(bool wrong) {
  int* data = zeros<int>(64);
  cudaMemcpy(data, wrong ? on_host : zeros<int>(64), sizeof on_host, cudaMemcpyDeviceToDevice);
}
/// FAULT copy_too_long RL0308 invalid-api-use host "256 bytes has only 256"
void copy_too_long(bool wrong) {
  static int more[128];
  cudaMemcpy(zeros<int>(64), more, (wrong ? 65 : 64) * sizeof(int), cudaMemcpyHostToDevice);
}
/// FAULT read_too_long RL0308 invalid-api-use host "a copy from the device touches 260 bytes"
void read_too_long(bool wrong) {
  static int more[128];
  cudaMemcpy(more, zeros<int>(64), (wrong ? 65 : 64) * sizeof(int), cudaMemcpyDeviceToHost);
}
/// FAULT copy_to_freed RL0308 invalid-api-use host "was freed"
void copy_to_freed(bool wrong) {
  int* data = zeros<int>(64);
  if (wrong) cudaFree(data);
  cudaMemcpy(data, on_host, sizeof on_host, cudaMemcpyHostToDevice);
}
/// FAULT copy_on_device_too_long RL0308 invalid-api-use host "a copy on the device reads"
void copy_on_device_too_long(bool wrong) {
  cudaMemcpy(zeros<int>(128), zeros<int>(64), (wrong ? 65 : 64) * sizeof(int),
             cudaMemcpyDeviceToDevice);
}
/// FAULT rows_too_long RL0308 invalid-api-use host "a copy to the device"
void rows_too_long(bool wrong) {
  int* data = nullptr;
  std::size_t pitch = 0;
  cudaMallocPitch(&data, &pitch, 16, 4);
  cudaMemcpy2D(data, pitch, on_host, 16, 16, wrong ? 5 : 4, cudaMemcpyHostToDevice);
}
/// FAULT symbol_too_long RL0308 invalid-api-use host "symbol"
void symbol_too_long(bool wrong) {
  cudaMemcpyToSymbol(symbol, on_host, (wrong ? 5 : 4) * sizeof(int));
}
/// FAULT memset_too_long RL0308 invalid-api-use host "a memset touches 65 bytes"
void memset_too_long(bool wrong) { cudaMemset(zeros<char>(64), 0, wrong ? 65 : 64); }
/// FAULT memset_of_host RL0308 invalid-api-use host "no device allocation is there"
void memset_of_host(bool wrong) { cudaMemset(wrong ? on_host : zeros<int>(64), 0, sizeof on_host); }
/// FAULT double_free RL0308 invalid-api-use host "it was freed before"
void double_free(bool wrong) {
  int* data = zeros<int>(64);
  cudaFree(data);
  if (wrong) cudaFree(data);
}
/// FAULT free_of_the_middle RL0308 invalid-api-use host "128 bytes into"
void free_of_the_middle(bool wrong) { cudaFree(zeros<int>(64) + (wrong ? 32 : 0)); }
/// FAULT free_of_host RL0308 invalid-api-use host "memory of the host"
void free_of_host(bool wrong) { cudaFree(wrong ? on_host : zeros<int>(64)); }
/// FAULT double_free_host RL0308 invalid-api-use host "cudaFreeHost"
void double_free_host(bool wrong) {
  void* block = nullptr;
  cudaMallocHost(&block, 64);
  cudaFreeHost(block);
  if (wrong) cudaFreeHost(block);
}
/// FAULT free_host_of_device RL0308 invalid-api-use host "device memory"
void free_host_of_device(bool wrong) {
  void* block = nullptr;
  cudaMallocHost(&block, 64);
  cudaFreeHost(wrong ? zeros<int>(64) : block);
}
/// FAULT stream_destroyed RL0308 invalid-api-use host "stream"
void stream_destroyed(bool wrong) {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  if (wrong) cudaStreamDestroy(stream);
  fill<<<1, 32, 0, stream>>>(zeros<int>(32));
  launched();
}
/// FAULT event_destroyed RL0308 invalid-api-use host "event"
void event_destroyed(bool wrong) {
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  if (wrong) cudaEventDestroy(event);
  cudaEventRecord(event, nullptr);
}

/// FAULT event_never_recorded RL0308 invalid-api-use host "an end event that was never recorded"
void event_never_recorded(bool wrong) {
  cudaEvent_t start = nullptr, stop = nullptr;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start, nullptr);
  fill<<<1, 32>>>(zeros<int>(32));
  if (!wrong) cudaEventRecord(stop, nullptr);
  cudaEventSynchronize(stop);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, start, stop);
}

#define ROOFLAB_FAULT(name) \
  Fault { #name, name }
const std::vector<Fault> faults{
    ROOFLAB_FAULT(too_many_threads),     ROOFLAB_FAULT(block_too_deep),
    ROOFLAB_FAULT(empty_grid),           ROOFLAB_FAULT(grid_too_high),
    ROOFLAB_FAULT(dynamic_shared_unset), ROOFLAB_FAULT(shared_sum_too_large),
    ROOFLAB_FAULT(over_launch_bounds),   ROOFLAB_FAULT(wrong_architecture),
    ROOFLAB_FAULT(nobody_asks),          ROOFLAB_FAULT(asked_too_late),
    ROOFLAB_FAULT(to_device_reversed),   ROOFLAB_FAULT(from_device_reversed),
    ROOFLAB_FAULT(arguments_swapped),    ROOFLAB_FAULT(on_device_from_host),
    ROOFLAB_FAULT(copy_too_long),        ROOFLAB_FAULT(read_too_long),
    ROOFLAB_FAULT(copy_to_freed),        ROOFLAB_FAULT(copy_on_device_too_long),
    ROOFLAB_FAULT(rows_too_long),        ROOFLAB_FAULT(symbol_too_long),
    ROOFLAB_FAULT(memset_too_long),      ROOFLAB_FAULT(memset_of_host),
    ROOFLAB_FAULT(double_free),          ROOFLAB_FAULT(free_of_the_middle),
    ROOFLAB_FAULT(free_of_host),         ROOFLAB_FAULT(double_free_host),
    ROOFLAB_FAULT(free_host_of_device),  ROOFLAB_FAULT(stream_destroyed),
    ROOFLAB_FAULT(event_destroyed),      ROOFLAB_FAULT(event_never_recorded),
};

}  // namespace

int main(int count, char** arguments) { return run_faults(faults, count, arguments); }

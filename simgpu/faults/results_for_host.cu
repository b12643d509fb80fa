#include "fault.h"

/// The host uses memory that a kernel, which may still be under way, stores to. There is no line of
/// device code to name; FAULT comments say what the message holds.
namespace {

constexpr int kCount = 1024;
constexpr std::size_t kBytes = kCount * sizeof(int);

int* managed() {
  int* memory = nullptr;
  cudaMallocManaged(&memory, kBytes);
  std::memset(memory, 0, kBytes);
  return memory;
}

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

/// What nobody optimises away.
int look_at(const int* memory) { return *const_cast<const volatile int*>(memory); }

__global__ void count_up(int* data, int from) { data[from + threadIdx.x] = from + threadIdx.x; }

/// FAULT managed_is_read RL0321 global-race host "uses byte 40 of"
void managed_is_read(bool wrong) {
  int* const data = managed();
  count_up<<<1, 32>>>(data, 0);
  if (!wrong) cudaDeviceSynchronize();
  look_at(data + 10);
  cudaFree(data);
}

/// FAULT managed_is_written RL0321 global-race host "kernel (anonymous namespace)::count_up"
void managed_is_written(bool wrong) {
  int* const data = managed();
  count_up<<<1, 32>>>(data, 0);
  if (!wrong) cudaDeviceSynchronize();
  data[3] = 4;
  cudaFree(data);
}

/// FAULT mapped_is_read RL0321 global-race host "may still be under way on"
void mapped_is_read(bool wrong) {
  int* data = nullptr;
  cudaHostAlloc(&data, kBytes, cudaHostAllocMapped);
  cudaStream_t stream = new_stream();
  count_up<<<1, 32, 0, stream>>>(data, 0);
  if (!wrong) cudaStreamSynchronize(stream);
  look_at(data);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  cudaFreeHost(data);
}

/// Asking for errors, recording an event and allocating wait for nothing.
/// FAULT another_stream_is_waited_for RL0321 global-race host "uses byte 0 of"
void another_stream_is_waited_for(bool wrong) {
  int* const data = managed();
  cudaStream_t stream = new_stream(), other = new_stream();
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  count_up<<<1, 32, 0, wrong ? stream : other>>>(data, 0);
  cudaGetLastError();
  cudaEventRecord(event, other);
  cudaEventSynchronize(event);
  unwritten<int>(1);
  look_at(data);
  cudaDeviceSynchronize();
  cudaEventDestroy(event);
  cudaStreamDestroy(stream);
  cudaStreamDestroy(other);
  cudaFree(data);
}

/// What the kernel leaves alone is the host's, on the same page, too.
/// FAULT only_what_it_stores RL0321 global-race host "uses byte 124 of"
void only_what_it_stores(bool wrong) {
  int* const data = managed();
  count_up<<<1, 32>>>(data, 0);
  data[wrong ? 31 : 32] = 1;
  cudaDeviceSynchronize();
  cudaFree(data);
}

void add_one(void* data) { ++static_cast<int*>(data)[5]; }

/// A function of the host on the stream, and a copy there, come behind the kernel.
/// FAULT behind_on_the_stream RL0321 global-race host "uses byte 20 of"
void behind_on_the_stream(bool wrong) {
  int *data = nullptr, *const copied = unwritten<int>(kCount);
  cudaMallocHost(&data, kBytes);
  std::memset(data, 0, kBytes);
  cudaStream_t stream = new_stream();
  count_up<<<1, 32, 0, stream>>>(data, 0);
  if (!wrong) cudaLaunchHostFunc(stream, add_one, data);
  if (wrong) add_one(data);
  cudaMemcpyAsync(copied, data, kBytes, cudaMemcpyHostToDevice, stream);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  cudaFreeHost(data);
}

__global__ void store_and_tell(int* data) {
  data[0] = 7;
  __threadfence_system();
  *static_cast<volatile int*>(data + 1) = 1;
}

__global__ void store_both(int* data) {
  data[0] = 7;
  data[1] = 1;
}

/// A host that looks until a kernel tells it waits for the kernel.
/// FAULT told_by_the_kernel RL0321 global-race host "uses byte 4 of"
void told_by_the_kernel(bool wrong) {
  int* const data = managed();
  if (wrong) {
    store_both<<<1, 1>>>(data);
  } else {
    store_and_tell<<<1, 1>>>(data);
  }
  while (look_at(data + 1) == 0) {
  }
  look_at(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}

#define ROOFLAB_FAULT(name) \
  Fault { #name, name }
const std::vector<Fault> faults{
    ROOFLAB_FAULT(managed_is_read),     ROOFLAB_FAULT(managed_is_written),
    ROOFLAB_FAULT(mapped_is_read),      ROOFLAB_FAULT(another_stream_is_waited_for),
    ROOFLAB_FAULT(only_what_it_stores), ROOFLAB_FAULT(behind_on_the_stream),
    ROOFLAB_FAULT(told_by_the_kernel),
};

}  // namespace

int main(int count, char** arguments) { return run_faults(faults, count, arguments); }

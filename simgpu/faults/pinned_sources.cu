#include "fault.h"

/// The host writes to memory that a copy, or a kernel, which may still be under way reads. There is
/// no line of device code to name; FAULT comments say what the message holds.
namespace {

constexpr int kCount = 1024;
constexpr std::size_t kBytes = kCount * sizeof(int);

int* pinned() {
  void* memory = nullptr;
  cudaMallocHost(&memory, kBytes);
  std::memset(memory, 0, kBytes);
  return static_cast<int*>(memory);
}

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

/// Frees what leaks would tell of.
void free_both(cudaStream_t stream, int* memory) {
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  cudaFreeHost(memory);
}

/// FAULT one_buffer_for_all_chunks RL0320 global-race host "byte 0 of 4096"
void one_buffer_for_all_chunks(bool wrong) {
  constexpr int kChunks = 3;
  int* const staging = pinned();
  int* const data = unwritten<int>(kChunks * kCount);
  cudaStream_t stream = new_stream();
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    if (!wrong) cudaStreamSynchronize(stream);
    for (int i = 0; i < kCount; ++i) staging[i] = chunk * kCount + i + 1;
    cudaMemcpyAsync(data + chunk * kCount, staging, kBytes, cudaMemcpyHostToDevice, stream);
  }
  free_both(stream, staging);
}

/// FAULT cleared_before_the_wait RL0320 global-race host "byte 4092 of 4096"
void cleared_before_the_wait(bool wrong) {
  int* const staging = pinned();
  cudaStream_t stream = new_stream();
  cudaMemcpyAsync(unwritten<int>(kCount), staging, kBytes, cudaMemcpyHostToDevice, stream);
  if (!wrong) cudaStreamSynchronize(stream);
  staging[kCount - 1] = 7;
  free_both(stream, staging);
}

/// FAULT never_waited_for RL0320 global-race host "a copy to the device, which reads it"
void never_waited_for(bool wrong) {
  int* const staging = pinned();
  cudaMemcpyAsync(unwritten<int>(kCount), staging, kBytes, cudaMemcpyHostToDevice, nullptr);
  if (!wrong) cudaDeviceSynchronize();
  staging[0] = 1;
  cudaFreeHost(staging);
}

/// FAULT event_before_the_copy RL0320 global-race host "may still be under way"
void event_before_the_copy(bool wrong) {
  int* const staging = pinned();
  int* const data = unwritten<int>(kCount);
  cudaStream_t stream = new_stream();
  cudaEvent_t copied = nullptr;
  cudaEventCreate(&copied);
  if (wrong) cudaEventRecord(copied, stream);
  cudaMemcpyAsync(data, staging, kBytes, cudaMemcpyHostToDevice, stream);
  if (!wrong) cudaEventRecord(copied, stream);
  cudaEventSynchronize(copied);
  staging[0] = 1;
  cudaEventDestroy(copied);
  free_both(stream, staging);
}

/// FAULT wait_for_another_stream RL0320 global-race host "may still be under way"
void wait_for_another_stream(bool wrong) {
  int* const staging = pinned();
  int* const data = unwritten<int>(kCount);
  cudaStream_t stream = new_stream(), other = new_stream();
  cudaMemcpyAsync(data, staging, kBytes, cudaMemcpyHostToDevice, stream);
  cudaStreamSynchronize(wrong ? other : stream);
  staging[0] = 1;
  cudaStreamDestroy(other);
  free_both(stream, staging);
}

/// What lies between the rows of a copy is the host's.
/// FAULT within_the_rows RL0320 global-race host "byte 0 of 256"
void within_the_rows(bool wrong) {
  constexpr std::size_t kPitch = 128, kWidth = 64, kRows = 4;
  int* const staging = pinned();
  cudaStream_t stream = new_stream();
  cudaMemcpy2DAsync(unwritten<char>(kRows * kWidth), kWidth, staging, kPitch, kWidth, kRows,
                    cudaMemcpyHostToDevice, stream);
  reinterpret_cast<char*>(staging)[wrong ? 0 : kWidth] = 1;
  free_both(stream, staging);
}

__global__ void write_on_device(int* data) { data[0] = 5; }

/// What the device writes to the buffer in the order of the stream is no fault.
/// FAULT device_writes_as_well RL0320 global-race host "byte 4 of 4096"
void device_writes_as_well(bool wrong) {
  int* const staging = pinned();
  int* const data = unwritten<int>(kCount);
  cudaStream_t stream = new_stream();
  cudaMemcpyAsync(data, staging, kBytes, cudaMemcpyHostToDevice, stream);
  write_on_device<<<1, 1, 0, stream>>>(staging);
  cudaMemcpyAsync(data, staging, kBytes, cudaMemcpyHostToDevice, stream);
  write_on_device<<<1, 1, 0, stream>>>(data);
  cudaMemcpyAsync(staging, data, kBytes, cudaMemcpyDeviceToHost, stream);
  cudaMemcpyAsync(data, staging, kBytes, cudaMemcpyHostToDevice, stream);
  if (!wrong) cudaMemsetAsync(staging, 1, kBytes, stream);
  if (wrong) staging[1] = 1;
  free_both(stream, staging);
}

__global__ void sum(const int* values, int* result) {
  *result = values[threadIdx.x] + values[threadIdx.x + 1];
}

/// FAULT kernel_reads_pinned_memory RL0320 global-race host "kernel (anonymous namespace)::sum"
void kernel_reads_pinned_memory(bool wrong) {
  int* const values = pinned();
  int* const result = unwritten<int>(1);
  cudaStream_t stream = new_stream();
  sum<<<1, 1, 0, stream>>>(values, result);
  values[wrong ? 1 : 2] = 3;  // the third it does not read
  free_both(stream, values);
}

/// FAULT kernel_reads_managed_memory RL0320 global-race host "kernel (anonymous namespace)::sum"
void kernel_reads_managed_memory(bool wrong) {
  int *values = nullptr, *const result = unwritten<int>(1);
  cudaMallocManaged(&values, kBytes);
  std::memset(values, 0, kBytes);
  sum<<<1, 1>>>(values, result);
  if (!wrong) cudaDeviceSynchronize();
  values[0] = 3;
  cudaDeviceSynchronize();
  cudaFree(values);
}

void write_to(void* memory) { static_cast<int*>(memory)[0] = 1; }

/// FAULT host_function_of_another_stream RL0320 global-race host "may still be under way"
void host_function_of_another_stream(bool wrong) {
  int* const staging = pinned();
  int* const data = unwritten<int>(kCount);
  cudaStream_t stream = new_stream(), other = new_stream();
  cudaMemcpyAsync(data, staging, kBytes, cudaMemcpyHostToDevice, stream);
  cudaLaunchHostFunc(wrong ? other : stream, write_to, staging);
  cudaStreamSynchronize(other);
  cudaStreamDestroy(other);
  free_both(stream, staging);
}

/// A graph's host function may write what a copy of the same graph has read, or is to read.
/// FAULT graph_is_launched_again RL0320 global-race host "may still be under way"
void graph_is_launched_again(bool wrong) {
  int* const staging = pinned();
  int* const data = unwritten<int>(kCount);
  cudaStream_t stream = new_stream();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  cudaMemcpyAsync(data, staging, kBytes, cudaMemcpyHostToDevice, stream);
  cudaLaunchHostFunc(stream, write_to, staging);
  cudaMemcpyAsync(data, staging, kBytes, cudaMemcpyHostToDevice, stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, stream);
  if (!wrong) cudaStreamSynchronize(stream);
  staging[1] = 2;
  cudaGraphLaunch(executable, stream);
  free_both(stream, staging);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

#define ROOFLAB_FAULT(name) \
  Fault { #name, name }
const std::vector<Fault> faults{
    ROOFLAB_FAULT(one_buffer_for_all_chunks),
    ROOFLAB_FAULT(cleared_before_the_wait),
    ROOFLAB_FAULT(never_waited_for),
    ROOFLAB_FAULT(event_before_the_copy),
    ROOFLAB_FAULT(wait_for_another_stream),
    ROOFLAB_FAULT(within_the_rows),
    ROOFLAB_FAULT(device_writes_as_well),
    ROOFLAB_FAULT(kernel_reads_pinned_memory),
    ROOFLAB_FAULT(kernel_reads_managed_memory),
    ROOFLAB_FAULT(host_function_of_another_stream),
    ROOFLAB_FAULT(graph_is_launched_again),
};

}  // namespace

int main(int count, char** arguments) { return run_faults(faults, count, arguments); }

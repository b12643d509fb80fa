// Memory that host and device share: managed, pinned and mapped, and what may be said about it.
#include <sys/mman.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "check.h"

__managed__ int total = 40;
__managed__ int table[4] = {1, 2, 3, 4};

__global__ void add_to_total(int value) { total += value + table[3]; }
__global__ void scale(float* values, int count, float by) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] *= by;
}
__global__ void read_behind(const int* values, int count, int* out) { *out = values[count]; }

void share_variables() {
  EXPECT(total == 40 && table[2] == 3);
  total = 50;
  add_to_total<<<1, 1>>>(7);
  CHECK(cudaDeviceSynchronize());
  EXPECT(total == 61);
  void* address = nullptr;
  size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, total));
  EXPECT(address == &total);
  CHECK(cudaGetSymbolSize(&bytes, table));
  EXPECT(bytes == sizeof table);
  const int three = 3;
  CHECK(cudaMemcpyToSymbol(total, &three, sizeof three));
  EXPECT(total == 3);
}

void share_managed_memory() {
  const int count = 5000;
  float* values = nullptr;
  CHECK(cudaMallocManaged(&values, count * sizeof(float)));
  for (int i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  scale<<<(count + 255) / 256, 256>>>(values, count, 2);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i) EXPECT(values[i] == 2 * static_cast<float>(i));
  for (int i = 0; i < count; ++i) values[i] += 1;
  scale<<<(count + 255) / 256, 256>>>(values, count, 3);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i) EXPECT(values[i] == 6 * static_cast<float>(i) + 3);

  // It counts as either side in a copy.
  std::vector<float> host(count, 1), back(count);
  float* device = nullptr;
  CHECK(cudaMalloc(&device, count * sizeof(float)));
  CHECK(cudaMemcpy(values, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  EXPECT(values[count - 1] == 1);
  values[7] = 9;
  CHECK(cudaMemcpy(device, values, count * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(back.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
  EXPECT(back[7] == 9 && back[8] == 1);
  CHECK(cudaMemcpy(back.data(), values, count * sizeof(float), cudaMemcpyHostToHost));
  EXPECT(back[7] == 9);
  CHECK(cudaMemset(values, 0, count * sizeof(float)));
  EXPECT(values[7] == 0 && values[count - 1] == 0);

  // Zeroing a large block must not give back pages that the host has mapped.
  char* large = nullptr;
  const size_t bytes = 5 << 20;
  CHECK(cudaMallocManaged(&large, bytes));
  std::memset(large, 1, bytes);
  CHECK(cudaMemset(large, 0, bytes));
  for (size_t i = 0; i < bytes; i += 1000) EXPECT(large[i] == 0);
  CHECK(cudaFree(large));
  CHECK(cudaFree(device));
  CHECK(cudaFree(values));
}

void advise() {
  char* values = nullptr;
  CHECK(cudaMallocManaged(&values, 4096));
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0}, host{cudaMemLocationTypeHost, 0};
  const cudaMemLocation other{cudaMemLocationTypeDevice, 3};
  CHECK(cudaMemAdvise(values, 4096, cudaMemAdviseSetReadMostly, device));
  CHECK(cudaMemAdvise(values, 4096, cudaMemAdviseSetPreferredLocation, host));
  EXPECT_ERROR(cudaMemAdvise(values, 4096, cudaMemAdviseSetAccessedBy, other),
               cudaErrorInvalidValue);
  CHECK(cudaMemPrefetchAsync(values + 100, 200, device, 0, nullptr));
  EXPECT_ERROR(cudaMemPrefetchAsync(values, 4097, device, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemPrefetchAsync(values, 4096, other, 0, nullptr), cudaErrorInvalidDevice);
  int answer = 7;
  CHECK(cudaMemRangeGetAttribute(&answer, sizeof answer, cudaMemRangeAttributeReadMostly, values,
                                 4096));
  EXPECT(answer == 1);
  const auto answer_of = [&](cudaMemRangeAttribute attribute) {
    CHECK(cudaMemRangeGetAttribute(&answer, sizeof answer, attribute, values, 4096));
    return answer;
  };
  EXPECT(answer_of(cudaMemRangeAttributePreferredLocation) == cudaCpuDeviceId);
  EXPECT(answer_of(cudaMemRangeAttributeLastPrefetchLocation) == 0);
  EXPECT(answer_of(cudaMemRangeAttributeAccessedBy) == cudaInvalidDeviceId);
  CHECK(cudaMemAdvise(values, 4096, cudaMemAdviseSetAccessedBy, device));
  EXPECT(answer_of(cudaMemRangeAttributeAccessedBy) == 0);
  CHECK(cudaMemAdvise(values, 4096, cudaMemAdviseUnsetReadMostly, device));
  EXPECT(answer_of(cudaMemRangeAttributeReadMostly) == 0);
  char* pages = nullptr;  // what is said of one page is not said of both
  CHECK(cudaMallocManaged(&pages, 8192));
  CHECK(cudaMemAdvise(pages + 10, 1, cudaMemAdviseSetReadMostly, device));
  for (const int bytes : {4096, 8192}) {
    CHECK(cudaMemRangeGetAttribute(&answer, sizeof answer, cudaMemRangeAttributeReadMostly, pages,
                                   static_cast<size_t>(bytes)));
    EXPECT(answer == (bytes == 4096 ? 1 : 0));
  }
  CHECK(cudaFree(pages));
  CHECK(cudaStreamAttachMemAsync(nullptr, values, 0, cudaMemAttachGlobal));
  EXPECT_ERROR(cudaStreamAttachMemAsync(nullptr, values + 1, 0, cudaMemAttachGlobal),
               cudaErrorInvalidValue);
  EXPECT_ERROR(cudaStreamAttachMemAsync(nullptr, values, 0, 77), cudaErrorInvalidValue);
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, values + 5));
  EXPECT(attributes.type == cudaMemoryTypeManaged && attributes.device == 0);
  EXPECT(attributes.hostPointer == values + 5 && attributes.devicePointer == values + 5);
  EXPECT_ERROR(cudaFreeHost(values), cudaErrorInvalidValue);
  CHECK(cudaFree(values));
  CHECK(cudaMallocManaged(&values, 0));
  EXPECT_ERROR(cudaMallocManaged(&values, 64, 99), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMallocManaged(&values, size_t{1} << 50), cudaErrorMemoryAllocation);
}

void share_pinned_memory() {
  const int count = 3000;
  float *pinned = nullptr, *device = nullptr;
  CHECK(cudaHostAlloc(&pinned, count * sizeof(float), cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&device, pinned, 0));
  for (int i = 0; i < count; ++i) pinned[i] = static_cast<float>(i);
  scale<<<(count + 255) / 256, 256>>>(device, count, 0.5f);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i) EXPECT(pinned[i] == 0.5f * static_cast<float>(i));
  unsigned flags = 0;
  CHECK(cudaHostGetFlags(&flags, pinned));
  EXPECT((flags & cudaHostAllocMapped) != 0);
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, pinned));
  EXPECT(attributes.type == cudaMemoryTypeHost && attributes.devicePointer == device);
  float* copy = nullptr;
  CHECK(cudaMalloc(&copy, count * sizeof(float)));
  CHECK(cudaMemcpyAsync(copy, pinned, count * sizeof(float), cudaMemcpyHostToDevice, nullptr));
  scale<<<(count + 255) / 256, 256>>>(copy, count, 4);
  CHECK(cudaMemcpyAsync(pinned, copy, count * sizeof(float), cudaMemcpyDefault, nullptr));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i) EXPECT(pinned[i] == 2 * static_cast<float>(i));
  size_t before = 0, after = 0, all = 0;
  CHECK(cudaMemGetInfo(&before, &all));
  char* more = nullptr;
  CHECK(cudaMallocHost(&more, 1 << 20));
  CHECK(cudaMemGetInfo(&after, &all));
  EXPECT(before == after);  // it is the host's memory
  CHECK(cudaFreeHost(more));
  EXPECT_ERROR(cudaHostGetDevicePointer(&device, &flags, 0), cudaErrorInvalidValue);
  CHECK(cudaFree(copy));
  CHECK(cudaFreeHost(pinned));
}

/// The bytes that a program registers are its own; kernels do not see them.
void register_host_memory() {
  std::vector<char> own(8192);
  CHECK(cudaHostRegister(own.data(), own.size(), cudaHostRegisterDefault));
  EXPECT_ERROR(cudaHostRegister(own.data(), own.size(), cudaHostRegisterDefault),
               cudaErrorHostMemoryAlreadyRegistered);
  void* device = nullptr;
  EXPECT_ERROR(cudaHostGetDevicePointer(&device, own.data(), 0), cudaErrorNotSupported);
  CHECK(cudaHostUnregister(own.data()));
  EXPECT_ERROR(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered);
}

void allocate_again_and_again() {
  for (int round = 0; round < 300; ++round) {
    int *managed = nullptr, *pinned = nullptr, *device = nullptr;
    CHECK(cudaMallocManaged(&managed, 100));
    CHECK(cudaMallocHost(&pinned, 10000));
    CHECK(cudaMalloc(&device, 100));
    EXPECT(managed[24] == 0 && pinned[2499] == 0);
    managed[24] = pinned[2499] = round + 1;
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(managed));
  }
}

/// What a program may try with shared memory, and the device still works.
void treat_it_badly() {
  char* values = nullptr;
  const size_t bytes = 1 << 20;
  CHECK(cudaMallocManaged(&values, bytes));
  std::memset(values, 3, bytes);
  EXPECT(madvise(values, bytes, MADV_REMOVE) == 0 || errno != 0);
  munmap(values + 4096, 4096);
  CHECK(cudaMemset(values, 5, bytes));
  EXPECT(values[0] == 5 && values[bytes - 1] == 5);
  CHECK(cudaFree(values));
  int *data = nullptr, answer = 0;
  CHECK(cudaMalloc(&data, sizeof *data));
  CHECK(cudaMemset(data, 0, sizeof *data));
  CHECK(cudaMemcpy(&answer, data, sizeof answer, cudaMemcpyDeviceToHost));
  EXPECT(answer == 0);
  CHECK(cudaFree(data));
}

void leave_bounds() {
  int *values = nullptr, *out = nullptr;
  CHECK(cudaMallocManaged(&values, 100 * sizeof(int)));
  CHECK(cudaMalloc(&out, sizeof(int)));
  read_behind<<<1, 1>>>(values, 100, out);
  EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset());
  CHECK(cudaMallocHost(&out, 64));
  EXPECT_ERROR(cudaFree(out), cudaErrorInvalidValue);
  CHECK(cudaFreeHost(out));
  CHECK(cudaMallocManaged(&values, 400));
  values[0] = 1;
  add_to_total<<<1, 1>>>(1);  // a managed variable is there again, as the program began
  CHECK(cudaDeviceSynchronize());
  EXPECT(total == 45);
  CHECK(cudaFree(values));
  std::printf("bounds are right\n");
  std::fflush(stdout);
  values[0] = 2;  // freed: faults like any address of the device
}

int main(int count, char** arguments) {
  if (count > 1 && std::strcmp(arguments[1], "bounds") == 0) leave_bounds();
  if (count > 1 && std::strcmp(arguments[1], "leak") == 0) {
    char* values = nullptr;
    CHECK(cudaMallocManaged(&values, 640));
    CHECK(cudaMallocHost(&values, 320));
    return 0;
  }
  share_variables();
  share_managed_memory();
  advise();
  share_pinned_memory();
  register_host_memory();
  allocate_again_and_again();
  treat_it_badly();
  std::printf("shared memory is right\n");
}

#include <cuda_runtime.h>
#include <cupti.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../runtime/testdata/check.h"

/// Written against CUPTI alone, as for a GPU. Prints one line for each record, for the test to
/// read.

extern "C" __global__ void scale(float* values, float factor, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] *= factor;
}

namespace {

int complete = 0;

void CUPTIAPI request_buffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *size = 4096;  // small, so that several are needed
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, *size));
  *most_records = 0;
}

void print(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
      std::printf("kernel %s %u %u %d %d %u %llu %llu\n", kernel->name, kernel->correlationId,
                  kernel->streamId, kernel->gridX, kernel->blockX,
                  unsigned{kernel->registersPerThread},
                  static_cast<unsigned long long>(kernel->start),
                  static_cast<unsigned long long>(kernel->end));
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy5*>(record);
      std::printf("copy %u %u %llu %u %u %llu %llu\n", unsigned{copy->copyKind},
                  unsigned{copy->flags}, static_cast<unsigned long long>(copy->bytes),
                  copy->correlationId, copy->streamId, static_cast<unsigned long long>(copy->start),
                  static_cast<unsigned long long>(copy->end));
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto* fill = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      std::printf("fill %llu %u %u %llu %llu\n", static_cast<unsigned long long>(fill->bytes),
                  fill->correlationId, fill->streamId, static_cast<unsigned long long>(fill->start),
                  static_cast<unsigned long long>(fill->end));
      return;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME: {
      const auto* call = reinterpret_cast<const CUpti_ActivityAPI*>(record);
      const char* name = nullptr;
      cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, call->cbid, &name);
      std::printf("call %s %u %u %llu %llu\n", name == nullptr ? "?" : name, call->correlationId,
                  call->returnValue, static_cast<unsigned long long>(call->start),
                  static_cast<unsigned long long>(call->end));
      return;
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto* external = reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
      std::printf("external %llu %u\n", static_cast<unsigned long long>(external->externalId),
                  external->correlationId);
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMORY2: {
      const auto* memory = reinterpret_cast<const CUpti_ActivityMemory3*>(record);
      std::printf("memory %d %llu %u\n", static_cast<int>(memory->memoryOperationType),
                  static_cast<unsigned long long>(memory->bytes), memory->correlationId);
      return;
    }
    default:
      std::printf("unexpected %d\n", static_cast<int>(record->kind));
  }
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  ++complete;
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) print(record);
  std::free(buffer);
}

void must(CUptiResult result, const char* what) {
  const char* text = "?";
  cuptiGetResultString(result, &text);
  if (result != CUPTI_SUCCESS) std::printf("failed %s %s\n", what, text);
}

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMSET,
                                         CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                         CUPTI_ACTIVITY_KIND_MEMORY2};

}  // namespace

int main() {
  constexpr int kCount = 10'000;
  const std::vector<float> host(kCount, 1.0f);
  must(cuptiActivityRegisterCallbacks(request_buffer, take_buffer), "RegisterCallbacks");
  std::printf("kind KERNEL %d\n",
              static_cast<int>(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_KERNEL)));
  std::printf("beside CONCURRENT_KERNEL %d\n",
              static_cast<int>(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)));
  must(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_KERNEL), "Disable");
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_OVERHEAD);  // which the simulated GPU lacks
  cuptiActivityDisable(CUPTI_ACTIVITY_KIND_OVERHEAD);

  float* early = nullptr;
  CHECK(cudaMalloc(&early, 512));  // before anything is enabled: no record
  for (const CUpti_ActivityKind kind : kKinds) must(cuptiActivityEnable(kind), "Enable");

  uint64_t before = 0, after = 0;
  must(cuptiGetTimestamp(&before), "GetTimestamp");
  float* values = nullptr;
  cudaStream_t stream = nullptr;
  CHECK(cudaMalloc(&values, kCount * sizeof(float)));
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemcpy(values, host.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  must(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 7), "Push");
  scale<<<(kCount + 255) / 256, 256>>>(values, 2.0f, kCount);
  must(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 8), "Push");
  scale<<<40, 256, 0, stream>>>(values, 2.0f, kCount);
  uint64_t last = 0;
  must(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last),
       "Pop");
  std::printf("popped %llu\n", static_cast<unsigned long long>(last));
  CHECK(cudaMemsetAsync(values, 0, 400, stream));
  must(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last),
       "Pop");
  std::printf("nothing left %d\n", static_cast<int>(cuptiActivityPopExternalCorrelationId(
                                       CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last)));
  for (int i = 0; i < 30; ++i) scale<<<1, 32>>>(values, 1.0f, 32);
  float factor = 1.0f;
  int count = 32;
  void* arguments[] = {&values, &factor, &count};
  CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(scale), 1, 32, arguments, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(values));
  if (cudaMemcpy(values, host.data(), 16, cudaMemcpyHostToDevice) == cudaSuccess) {
    std::printf("failed: a copy into freed memory was accepted\n");
  }
  must(cuptiGetTimestamp(&after), "GetTimestamp");
  for (const CUpti_ActivityKind kind : kKinds) must(cuptiActivityDisable(kind), "Disable");
  CHECK(cudaFree(early));  // after everything is disabled: no record
  must(cuptiActivityFlushAll(0), "FlushAll");

  size_t dropped = 99;
  must(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), "GetNumDroppedRecords");
  std::printf("dropped %zu\nbuffers %d\nspan %llu %llu\n", dropped, complete,
              static_cast<unsigned long long>(before), static_cast<unsigned long long>(after));
  CHECK(cudaStreamDestroy(stream));
  return 0;
}

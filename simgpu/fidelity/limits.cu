#include <cuda_fp16.h>

#include <array>
#include <cmath>
#include <cstring>

#include "topic.h"

/// What the runtime says of the device and of kernels.
namespace {

__constant__ float c_table[300];

__global__ void empty() {}
__global__ void copy(float* out, const float* in, int n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < static_cast<unsigned>(n)) out[i] = in[i] * c_table[i % 300];
}
__global__ void shared_4000(float* out) {
  __shared__ float tile[1000];
  tile[threadIdx.x % 1000] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[(threadIdx.x * 7) % 1000];
}
__global__ void shared_dynamic(float* out) {
  extern __shared__ float dynamic[];
  dynamic[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}
__global__ void __launch_bounds__(128) bounded_128(float* out, const float* in) {
  float sums[16] = {};
  for (int i = 0; i < 64; ++i) {
    for (int k = 0; k < 16; ++k) sums[k] = std::fma(in[i * 16 + k], in[i + threadIdx.x], sums[k]);
  }
  for (int k = 0; k < 16; ++k) out[threadIdx.x * 16 + k] = sums[k];
}
__global__ void __launch_bounds__(256, 4) bounded_256_4(float* out, const float* in) {
  float sums[64] = {};
  for (int i = 0; i < 64; ++i) {
    for (int k = 0; k < 64; ++k) sums[k] = std::fma(in[i * 64 + k], in[i + threadIdx.x], sums[k]);
  }
  for (int k = 0; k < 64; ++k) out[threadIdx.x * 64 + k] = sums[k];
}
__global__ void many_registers(float* out, const float* in) {
  float sums[8][8] = {};
  for (int i = 0; i < 64; ++i) {
    float a[8], b[8];
    for (int k = 0; k < 8; ++k) a[k] = in[i * 8 + k], b[k] = in[i * 8 + k + threadIdx.x];
    for (int r = 0; r < 8; ++r) {
      for (int k = 0; k < 8; ++k) sums[r][k] += a[r] * b[k];
    }
  }
  for (int k = 0; k < 64; ++k) out[threadIdx.x * 64 + k] = sums[k / 8][k % 8];
}
__global__ void local_array(int* out, int n) {
  int values[100];
  for (int i = 0; i < 100; ++i) values[i] = out[i];
  for (int i = 0; i < n; ++i) values[values[i] % 100] += i;
  out[threadIdx.x] = values[n];
}
__global__ void doubles(double* out) { out[threadIdx.x] = std::pow(out[threadIdx.x], 1.7); }
__global__ void shared_40000(char* out) {
  __shared__ char tile[40000];
  tile[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[39999 - threadIdx.x];
}

struct Kernel {
  const char* name;
  const void* function;
};
#define KERNEL(name) \
  Kernel { #name, reinterpret_cast < const void*>(name) }
const std::array kKernels = {KERNEL(empty),          KERNEL(copy),        KERNEL(shared_4000),
                             KERNEL(shared_dynamic), KERNEL(bounded_128), KERNEL(bounded_256_4),
                             KERNEL(many_registers), KERNEL(local_array), KERNEL(doubles),
                             KERNEL(shared_40000)};

void print_value(const char* item, const char* name, long long value) {
  std::printf("limits %s %s -> %lld\n", item, name, value);
}

void device() {
  for (int i = 1; i < cudaDevAttrMax; ++i) {
    // Where the GPU is plugged in says nothing.
    if (i == cudaDevAttrPciBusId || i == cudaDevAttrPciDeviceId || i == cudaDevAttrPciDomainId)
      continue;
    int value = -7;
    const cudaError_t error = cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(i), 0);
    if (error == cudaSuccess)
      std::printf("limits attribute %d -> %d\n", i, value);
    else
      std::printf("limits attribute %d -> %s\n", i, cudaGetErrorName(error));
    cudaGetLastError();
  }
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  std::printf("limits properties name -> %s\n", p.name);
#define FIELD(name) print_value("properties", #name, static_cast<long long>(p.name))
  FIELD(totalGlobalMem);
  FIELD(sharedMemPerBlock);
  FIELD(regsPerBlock);
  FIELD(warpSize);
  FIELD(memPitch);
  FIELD(maxThreadsPerBlock);
  FIELD(maxThreadsDim[0]);
  FIELD(maxThreadsDim[1]);
  FIELD(maxThreadsDim[2]);
  FIELD(maxGridSize[0]);
  FIELD(maxGridSize[1]);
  FIELD(maxGridSize[2]);
  FIELD(totalConstMem);
  FIELD(major);
  FIELD(minor);
  FIELD(textureAlignment);
  FIELD(texturePitchAlignment);
  FIELD(multiProcessorCount);
  FIELD(integrated);
  FIELD(canMapHostMemory);
  FIELD(maxTexture1D);
  FIELD(maxTexture2D[0]);
  FIELD(maxTexture3D[0]);
  FIELD(surfaceAlignment);
  FIELD(concurrentKernels);
  FIELD(ECCEnabled);
  FIELD(tccDriver);
  FIELD(asyncEngineCount);
  FIELD(unifiedAddressing);
  FIELD(memoryBusWidth);
  FIELD(l2CacheSize);
  FIELD(persistingL2CacheMaxSize);
  FIELD(maxThreadsPerMultiProcessor);
  FIELD(streamPrioritiesSupported);
  FIELD(globalL1CacheSupported);
  FIELD(localL1CacheSupported);
  FIELD(sharedMemPerMultiprocessor);
  FIELD(regsPerMultiprocessor);
  FIELD(managedMemory);
  FIELD(isMultiGpuBoard);
  FIELD(hostNativeAtomicSupported);
  FIELD(pageableMemoryAccess);
  FIELD(concurrentManagedAccess);
  FIELD(computePreemptionSupported);
  FIELD(canUseHostPointerForRegisteredMem);
  FIELD(cooperativeLaunch);
  FIELD(sharedMemPerBlockOptin);
  FIELD(pageableMemoryAccessUsesHostPageTables);
  FIELD(directManagedMemAccessFromHost);
  FIELD(maxBlocksPerMultiProcessor);
  FIELD(accessPolicyMaxWindowSize);
  FIELD(reservedSharedMemPerBlock);
  FIELD(hostRegisterSupported);
  FIELD(memoryPoolsSupported);
  FIELD(clusterLaunch);
  FIELD(ipcEventSupported);
  for (int limit = 0; limit <= 6; ++limit) {
    std::size_t value = 0;
    const cudaError_t error = cudaDeviceGetLimit(&value, static_cast<cudaLimit>(limit));
    cudaGetLastError();
    if (error == cudaSuccess)
      print_value("limit", std::to_string(limit).c_str(), static_cast<long long>(value));
    else
      std::printf("limits limit %d -> %s\n", limit, cudaGetErrorName(error));
  }
  int least = 9, greatest = 9;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  print_value("stream_priority", "least", least);
  print_value("stream_priority", "greatest", greatest);
  std::size_t pitch = 0;
  for (const std::size_t width : {1, 100, 512, 513, 4000}) {
    void* p2 = nullptr;
    cudaMallocPitch(&p2, &pitch, width, 3);
    print_value("pitch", std::to_string(width).c_str(), static_cast<long long>(pitch));
    cudaFree(p2);
  }
  for (const std::size_t size : {1, 100, 512, 1000}) {
    void* first = nullptr;
    cudaMalloc(&first, size);
    print_value("malloc_aligned_to_256", std::to_string(size).c_str(),
                reinterpret_cast<std::uintptr_t>(first) % 256 == 0);
    cudaFree(first);
  }
  int version = 0;
  cudaRuntimeGetVersion(&version);
  print_value("version", "runtime", version);
}

void attributes() {
  for (const Kernel& kernel : kKernels) {
    cudaFuncAttributes a;
    const cudaError_t error = cudaFuncGetAttributes(&a, kernel.function);
    if (error != cudaSuccess) {
      std::printf("limits %s -> %s\n", kernel.name, fidelity::failure(error).c_str());
      continue;
    }
#define OF_KERNEL(field) print_value(kernel.name, #field, static_cast<long long>(a.field))
    OF_KERNEL(numRegs);
    OF_KERNEL(sharedSizeBytes);
    OF_KERNEL(localSizeBytes);
    OF_KERNEL(constSizeBytes);
    OF_KERNEL(maxThreadsPerBlock);
    OF_KERNEL(binaryVersion);
    OF_KERNEL(ptxVersion);
    OF_KERNEL(cacheModeCA);
    OF_KERNEL(maxDynamicSharedSizeBytes);
    OF_KERNEL(preferredShmemCarveout);
  }
}

void occupancy() {
  for (const Kernel& kernel : kKernels) {
    cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize, 101376);
    cudaGetLastError();
    for (const int threads : {32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1056}) {
      for (const int shared : {0, 1024, 5000, 16384, 32768, 49152, 65536, 100000}) {
        int blocks = -1;
        const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, kernel.function, threads, static_cast<std::size_t>(shared));
        std::printf("limits occupancy %s %d %d -> %d %s\n", kernel.name, threads, shared, blocks,
                    cudaGetErrorName(error));
        cudaGetLastError();
      }
    }
    for (const int threads : {64, 256, 1024}) {
      for (const int blocks : {1, 2, 5}) {
        std::size_t bytes = 1;
        const cudaError_t error =
            cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel.function, blocks, threads);
        std::printf("limits available_shared %s %d %d -> %zu %s\n", kernel.name, blocks, threads,
                    error == cudaSuccess ? bytes : 0, cudaGetErrorName(error));
        cudaGetLastError();
      }
    }
  }
  const auto potential = [](const char* name, auto* function) {
    for (const int shared : {0, 20000}) {
      for (const int most : {0, 200}) {
        int blocks = -1, threads = -1;
        const cudaError_t error = cudaOccupancyMaxPotentialBlockSize(
            &blocks, &threads, function, static_cast<std::size_t>(shared), most);
        std::printf("limits potential %s %d %d -> %d %d %s\n", name, shared, most, blocks, threads,
                    cudaGetErrorName(error));
        cudaGetLastError();
      }
    }
  };
  potential("empty", empty);
  potential("copy", copy);
  potential("bounded_128", bounded_128);
  potential("bounded_256_4", bounded_256_4);
  potential("many_registers", many_registers);
  potential("shared_40000", shared_40000);
}

void limits() {
  device();
  attributes();
  occupancy();
}
TOPIC("limits", limits);

}  // namespace

// Stands in for NVIDIA's runtime where there is no GPU: "device memory" is files in /dev/shm, so
// that another process can open it by its handle. Only what the grader and the guest call.
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

struct Allocation {
  std::string path;
  std::size_t bytes = 0;
};

std::map<void*, Allocation>& allocations() {
  static std::map<void*, Allocation> all;
  return all;
}

void* map_file(const char* path, std::size_t bytes, int flags) {
  const int file = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
  if (file < 0 || (bytes > 0 && ftruncate(file, static_cast<off_t>(bytes)) != 0)) {
    return nullptr;
  }
  const off_t size = lseek(file, 0, SEEK_END);
  void* address =
      mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return address == MAP_FAILED ? nullptr : address;
}

using Clock = std::chrono::steady_clock;

}  // namespace

struct CUevent_st {
  Clock::time_point time;
};

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "cudaErrorInvalidValue";
}

cudaError_t cudaGetDeviceCount(int* count) {
  const char* gpus = std::getenv("ROOFLAB_FAKE_CUDA_GPUS");
  *count = gpus == nullptr ? 1 : std::atoi(gpus);
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  const char* sms = std::getenv("ROOFLAB_FAKE_CUDA_SMS");
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = 8;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = sms == nullptr ? 108 : std::atoi(sms);
      break;
    case cudaDevAttrL2CacheSize:
      *value = 1 << 16;
      break;
    default:
      return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* address, int size, int) {
  std::strncpy(address, "0000:65:00.0", static_cast<std::size_t>(size));
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  static int counter = 0;
  const std::string path =
      "/dev/shm/rooflab-fake-cuda-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
  *address = map_file(path.c_str(), bytes, O_CREAT | O_EXCL);
  if (*address == nullptr) {
    return cudaErrorMemoryAllocation;
  }
  allocations()[*address] = {path, bytes};
  return cudaSuccess;
}

cudaError_t cudaFree(void* address) {
  const auto found = allocations().find(address);
  if (found == allocations().end()) {
    return cudaErrorInvalidValue;
  }
  munmap(address, found->second.bytes);
  unlink(found->second.path.c_str());
  allocations().erase(found);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemset(void* address, int byte, std::size_t bytes) {
  std::memset(address, byte, bytes);
  return cudaSuccess;
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* address) {
  if (std::getenv("ROOFLAB_FAKE_CUDA_SHARES_NOTHING") != nullptr) {
    return cudaSuccess;  // of what nobody can open
  }
  const auto found = allocations().find(address);
  if (found == allocations().end() || found->second.path.size() >= sizeof(handle->reserved)) {
    return cudaErrorInvalidValue;
  }
  std::memcpy(handle->reserved, found->second.path.c_str(), found->second.path.size() + 1);
  return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(void** address, cudaIpcMemHandle_t handle, unsigned) {
  *address = map_file(handle.reserved, 0, 0);
  return *address == nullptr ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event->time = Clock::now();
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  // For a guest that has its events lie.
  if (const char* scale = std::getenv("ROOFLAB_FAKE_CUDA_EVENT_SCALE")) {
    *milliseconds *= std::strtof(scale, nullptr);
  }
  return cudaSuccess;
}

}  // extern "C"

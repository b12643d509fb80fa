// Stands in for NVIDIA's runtime where there is no GPU. A memory pool is a file without a name, so
// that only who has its descriptor can open it; other "device memory" is files in /dev/shm, where
// tests look at it. Only what the grader and the guest call, and as strict as NVIDIA's is.
//
// What is done to memory is written to $ROOFLAB_FAKE_CUDA_LOG, a line for each call. From the
// $ROOFLAB_FAKE_CUDA_BUSY_FROM-th wait of a run for the GPU on, each
// $ROOFLAB_FAKE_CUDA_BUSY_EVERY-th takes 5 ms longer. Where $ROOFLAB_FAKE_CUDA_CHANGE_MS is set,
// every other event of a process, with which its calls begin, waits so long before it takes its
// time, as for a change of contexts. A process that locks the file of an exported pool has the GPU
// for itself: copies on the device wait until it lets go.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "grader/device/testing/fake_gpus.h"
#include "grader/guest/proof.h"
#include "labs/toolkit/cuda_library.h"

namespace fake = rooflab::fake;

namespace {

/// Where in its pool an allocation lies: what one process tells another of it.
struct Extent {
  std::uint64_t mark = 0;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};
static_assert(sizeof(Extent) <= sizeof(cudaMemPoolPtrExportData));
constexpr std::uint64_t kMark = 0x524F4F464C4142;

struct Allocations {
  std::mutex mutex;
  std::map<void*, Extent> all;
  Extent* find(void* address) {
    const auto found = all.find(address);
    return found == all.end() ? nullptr : &found->second;
  }
};
Allocations& allocations() {
  static Allocations ours;
  return ours;
}

void* map_file(int file, const Extent& extent, int protection) {
  void* address =
      mmap(nullptr, extent.bytes, protection, MAP_SHARED, file, static_cast<off_t>(extent.offset));
  return address == MAP_FAILED ? nullptr : address;
}

int number(const char* name, int otherwise) {
  return std::atoi(fake::setting(name, std::to_string(otherwise)).c_str());
}

/// What the environment or a file has told this function to fail with, if anything has.
#define FAIL_IF_TOLD() \
  if (const int told = fake::failure_of(__func__)) return static_cast<cudaError_t>(told)

/// The current GPU of a thread, by the process's numbers.
int& current() {
  static thread_local int device = 0;
  return device;
}

/// NVIDIA's runtime works by the driver, which it looks for along the loader's path.
bool finds_driver() {
  static const bool found = dlopen("libcuda.so.1", RTLD_NOW) != nullptr;
  return found;
}

using Clock = std::chrono::steady_clock;

void log(const char* call, const void* to, const void* from, std::size_t bytes) {
  const char* path = std::getenv("ROOFLAB_FAKE_CUDA_LOG");
  if (path == nullptr) return;
  std::ofstream(path, std::ios::app)
      << call << ' ' << reinterpret_cast<std::uintptr_t>(to) << ' '
      << reinterpret_cast<std::uintptr_t>(from) << ' ' << bytes << '\n';
}

int waits_of_run = 0;  // since a pool was made, with which each run begins

/// As behind somebody else's work.
void wait_as_told() {
  const int from = std::atoi(fake::setting("ROOFLAB_FAKE_CUDA_BUSY_FROM", "-1").c_str());
  const int every = std::atoi(fake::setting("ROOFLAB_FAKE_CUDA_BUSY_EVERY", "1").c_str());
  if (from < 0) return;
  const int before = waits_of_run++;
  if (before < from || waits_of_run % every != 0) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

int exported_pool = -1;  // of ours that another process may open

/// As behind a kernel of another process, which runs until its turn is over.
void wait_for_turn() {
  if (exported_pool < 0) return;
  struct flock turn {};
  turn.l_type = F_RDLCK;
  fcntl(exported_pool, F_SETLKW, &turn);
  turn.l_type = F_UNLCK;
  fcntl(exported_pool, F_SETLK, &turn);
}

}  // namespace

struct CUevent_st {
  Clock::time_point time;
};

struct CUmemPoolHandle_st {
  int file = -1;
  std::size_t used = 0;
  bool imported = false;
  cudaMemAccessFlags access = cudaMemAccessFlagsProtReadWrite;
};

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInsufficientDriver:
      return "cudaErrorInsufficientDriver";
    case cudaErrorDevicesUnavailable:
      return "cudaErrorDevicesUnavailable";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorNoKernelImageForDevice:
      return "cudaErrorNoKernelImageForDevice";
    case cudaErrorUnsupportedPtxVersion:
      return "cudaErrorUnsupportedPtxVersion";
    case cudaErrorNotSupported:
      return "cudaErrorNotSupported";
    case cudaErrorMpsConnectionFailed:
      return "cudaErrorMpsConnectionFailed";
    default:
      return "cudaErrorInvalidValue";
  }
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = number("ROOFLAB_FAKE_CUDA_RUNTIME", 13000);
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = number("ROOFLAB_FAKE_CUDA_DRIVER", 13000);
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  int driver = 0;
  cudaDriverGetVersion(&driver);
  if (driver < 13000) return cudaErrorInsufficientDriver;
  *count = static_cast<int>(fake::visible().size());
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  FAIL_IF_TOLD();
  const auto count = static_cast<int>(fake::visible().size());
  if (count == 0) return cudaErrorNoDevice;
  if (device < 0 || device >= count) return cudaErrorInvalidDevice;
  current() = device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const auto gpu = static_cast<std::size_t>(fake::visible().at(static_cast<std::size_t>(device)));
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = 8;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = std::atoi(fake::element(fake::setting("ROOFLAB_FAKE_CUDA_SMS", "108"), gpu).c_str());
      break;
    case cudaDevAttrL2CacheSize:
      *value = 1 << 16;
      break;
    case cudaDevAttrComputeMode:
      *value = number("ROOFLAB_FAKE_CUDA_COMPUTE_MODE", cudaComputeModeDefault);
      break;
    case cudaDevAttrMemoryPoolsSupported:
      *value = 1;
      break;
    case cudaDevAttrMemoryPoolSupportedHandleTypes:
      *value = number("ROOFLAB_FAKE_CUDA_POOL_HANDLES", cudaMemHandleTypePosixFileDescriptor);
      break;
    default:
      return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

/// 0000:65:00.0, 0000:66:00.0, …
cudaError_t cudaDeviceGetPCIBusId(char* address, int size, int device) {
  const auto gpu = static_cast<unsigned>(fake::visible().at(static_cast<std::size_t>(device)));
  std::snprintf(address, static_cast<std::size_t>(size), "0000:%02x:00.0", 0x65 + gpu);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  FAIL_IF_TOLD();
  log("synchronize", nullptr, nullptr, 0);
  wait_as_told();
  return cudaSuccess;
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  log("reset", nullptr, nullptr, 0);
  return cudaSuccess;
}

cudaError_t cudaGetLastError() {
  FAIL_IF_TOLD();
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  static int counter = 0;
  const std::string path =
      "/dev/shm/rooflab-fake-cuda-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL, 0600);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    return cudaErrorMemoryAllocation;
  }
  *address = map_file(file, {.bytes = bytes}, PROT_READ | PROT_WRITE);
  close(file);
  return *address == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  FAIL_IF_TOLD();
  if (properties->allocType != cudaMemAllocationTypePinned ||
      properties->handleTypes != cudaMemHandleTypePosixFileDescriptor ||
      properties->location.type != cudaMemLocationTypeDevice ||
      properties->location.id != current()) {
    return cudaErrorInvalidValue;
  }
  waits_of_run = 0;
  *pool = new CUmemPoolHandle_st{.file = memfd_create("rooflab-fake-cuda", MFD_CLOEXEC)};
  return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  static CUmemPoolHandle_st its_own{.file = -1};
  *pool = &its_own;
  return cudaSuccess;
}

/// Tells in the environment what it was told.
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr attribute, void* value) {
  if (attribute != cudaMemPoolAttrReleaseThreshold) return cudaErrorInvalidValue;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, value, sizeof bytes);
  setenv("ROOFLAB_FAKE_CUDA_KEPT", std::to_string(bytes).c_str(), 1);
  return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  if (pool->file == exported_pool) exported_pool = -1;
  close(pool->file);
  delete pool;
  return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void** address, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t) {
  FAIL_IF_TOLD();
  constexpr std::size_t kPage = 4096;
  if (pool->imported) {
    return cudaErrorInvalidValue;
  }
  const Extent extent{kMark, pool->used, (bytes + kPage - 1) / kPage * kPage};
  pool->used += extent.bytes;
  const bool is_there = ftruncate(pool->file, static_cast<off_t>(pool->used)) == 0;
  *address = is_there ? map_file(pool->file, extent, PROT_READ | PROT_WRITE) : nullptr;
  if (*address == nullptr) {
    return cudaErrorMemoryAllocation;
  }
  const std::scoped_lock lock(allocations().mutex);
  allocations().all[*address] = extent;
  return cudaSuccess;
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t) {
  const std::scoped_lock lock(allocations().mutex);
  const Extent* found = allocations().find(address);
  if (found == nullptr) {
    return cudaErrorInvalidValue;
  }
  munmap(address, found->bytes);
  allocations().all.erase(address);
  return cudaSuccess;
}

cudaError_t cudaMemPoolExportToShareableHandle(void* handle, cudaMemPool_t pool,
                                               cudaMemAllocationHandleType type, unsigned flags) {
  if (pool->imported || type != cudaMemHandleTypePosixFileDescriptor || flags != 0) {
    return cudaErrorInvalidValue;
  }
  exported_pool = pool->file;
  // For a test: of something that nobody can import.
  const bool broken = !fake::setting("ROOFLAB_FAKE_CUDA_SHARES_NOTHING").empty();
  *static_cast<int*>(handle) = broken ? open("/dev/null", O_RDWR) : dup(pool->file);
  return cudaSuccess;
}

cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* exported, void* address) {
  const std::scoped_lock lock(allocations().mutex);
  const Extent* found = allocations().find(address);
  if (found == nullptr) {
    return cudaErrorInvalidValue;
  }
  std::memcpy(exported->reserved, found, sizeof(Extent));
  return cudaSuccess;
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* pool, void* handle,
                                                 cudaMemAllocationHandleType type, unsigned flags) {
  FAIL_IF_TOLD();
  if (!finds_driver()) return cudaErrorInsufficientDriver;
  const int file = static_cast<int>(reinterpret_cast<std::intptr_t>(handle));
  const bool is_pool = fcntl(file, F_GET_SEALS) >= 0;  // which only such files have
  if (!is_pool || type != cudaMemHandleTypePosixFileDescriptor || flags != 0) {
    return cudaErrorInvalidValue;
  }
  *pool =
      new CUmemPoolHandle_st{.file = file, .imported = true, .access = cudaMemAccessFlagsProtNone};
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  if (location->type != cudaMemLocationTypeDevice || location->id != 0) {
    return cudaErrorInvalidValue;
  }
  *flags = pool->access;
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access,
                                 std::size_t count) {
  if (count != 1 || access->location.type != cudaMemLocationTypeDevice ||
      access->location.id != 0) {
    return cudaErrorInvalidValue;
  }
  pool->access = access->flags;
  return cudaSuccess;
}

/// Memory of a pool that nobody set the access of is there and cannot be touched.
cudaError_t cudaMemPoolImportPointer(void** address, cudaMemPool_t pool,
                                     cudaMemPoolPtrExportData* exported) {
  Extent extent;
  std::memcpy(&extent, exported->reserved, sizeof(Extent));
  if (!pool->imported || extent.mark != kMark) {
    return cudaErrorInvalidValue;
  }
  const bool accessible = pool->access == cudaMemAccessFlagsProtReadWrite;
  *address = map_file(pool->file, extent, accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
  return *address == nullptr ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const bool on_device = kind == cudaMemcpyDeviceToDevice;
  log(on_device ? "copy_on_device" : "copy", to, from, bytes);
  if (on_device) wait_for_turn();
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemset(void* address, int byte, std::size_t bytes) {
  log("fill", address, nullptr, bytes);
  std::memset(address, byte, bytes);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = nullptr;  // all work is done when it is asked for, on whatever stream
  return cudaSuccess;
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  FAIL_IF_TOLD();
  constexpr std::uint32_t kFatbinMagic = 0xBA55ED50;
  std::uint32_t magic = 0;
  std::memcpy(&magic, code, sizeof magic);
  if (magic != kFatbinMagic) return cudaErrorInvalidValue;
  std::memcpy(library, &code, sizeof code);  // a handle is the address of what was loaded
  return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  FAIL_IF_TOLD();
  if (std::strcmp(name, rooflab::kProofKernel) != 0) return cudaErrorInvalidValue;
  *kernel = reinterpret_cast<cudaKernel_t>(library);
  return cudaSuccess;
}

/// The only kernel there is.
cudaError_t cudaLaunchKernel(const void*, dim3 grid, dim3 block, void** arguments, std::size_t,
                             cudaStream_t) {
  FAIL_IF_TOLD();
  const auto* x = *static_cast<const std::uint32_t**>(arguments[0]);
  auto* y = *static_cast<std::uint32_t**>(arguments[1]);
  const bool is_wrong = !fake::setting("ROOFLAB_FAKE_CUDA_MISCOMPUTES").empty();
  for (std::uint32_t i = 0; i < grid.x * block.x; ++i) {
    y[i] = rooflab::proof_of(x[i], i) + (is_wrong ? 1 : 0);
  }
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  FAIL_IF_TOLD();
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  static bool begins_call = false;
  begins_call = !begins_call;
  const int change_ms = begins_call ? number("ROOFLAB_FAKE_CUDA_CHANGE_MS", 0) : 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(change_ms));
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

#include "grader/guest/cuda_runtime.h"

#include <dlfcn.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "grader/contract/cuda_libraries.h"
#include "grader/guest/proof.h"

namespace rooflab {
namespace {

// As in the toolkit's driver_types.h, spelled out so that the guest builds without the toolkit.
struct ExportedPointer {  // cudaMemPoolPtrExportData
  std::array<unsigned char, 64> bytes;
};
struct Location {  // cudaMemLocation
  int type;
  int id;
};
struct Access {  // cudaMemAccessDesc
  Location location;
  int flags;
};
struct Extent {  // dim3
  unsigned x, y, z;
};
constexpr int kFileDescriptor = 1;     // cudaMemHandleTypePosixFileDescriptor
constexpr Location kThisGpu = {1, 0};  // cudaMemLocationTypeDevice, of the one GPU that we see
constexpr int kReadAndWrite = 3;       // cudaMemAccessFlagsProtReadWrite
constexpr int kReleaseThreshold = 4;   // cudaMemPoolAttrReleaseThreshold
constexpr int kDeviceToDevice = 3;
constexpr unsigned kNonBlocking = 1;  // cudaStreamNonBlocking

ExportedPointer pointer_from(const std::string& hexadecimal) {
  ExportedPointer pointer{};
  if (hexadecimal.size() != 2 * pointer.bytes.size()) {
    throw std::runtime_error("an exported pointer has 128 hexadecimal digits");
  }
  for (std::size_t i = 0; i < pointer.bytes.size(); ++i) {
    const char* digits = hexadecimal.data() + 2 * i;
    if (std::from_chars(digits, digits + 2, pointer.bytes[i], 16).ptr != digits + 2) {
      throw std::runtime_error("an exported pointer holds something else than hexadecimal digits");
    }
  }
  return pointer;
}

}  // namespace

CudaRuntime::CudaRuntime()
    : library_(dlopen(cuda_library("cudart").c_str(), RTLD_NOW | RTLD_LOCAL)) {
  const char* reason = library_ == nullptr ? dlerror() : nullptr;
  why_missing_ = reason == nullptr ? "" : reason;
}

void CudaRuntime::require() const {
  if (library_ == nullptr) {
    throw std::runtime_error(cuda_library("cudart") + " cannot be loaded: " + why_missing_);
  }
}

template <typename Function>
Function* CudaRuntime::find(const char* name) const {
  require();
  void* symbol = dlsym(library_, name);
  if (symbol == nullptr) {
    throw std::runtime_error(std::string("the CUDA runtime has no ") + name);
  }
  return reinterpret_cast<Function*>(symbol);
}

std::string CudaRuntime::name_of_error(int error) const {
  const char* name = find<const char*(int)>("cudaGetErrorName")(error);
  return name == nullptr ? "cudaErrorUnknown" : name;
}

void CudaRuntime::check(int error, const char* what) const {
  if (error != 0) {
    throw std::runtime_error(std::string(what) + ": " + name_of_error(error));
  }
}

std::string CudaRuntime::finish() {
  return library_ == nullptr ? "" : error_of(find<int()>("cudaDeviceSynchronize")());
}

std::string CudaRuntime::finish(void* stream) {
  return library_ == nullptr ? "" : error_of(find<int(void*)>("cudaStreamSynchronize")(stream));
}

/// @param of_device what waiting ended in
std::string CudaRuntime::error_of(int of_device) const {
  const int of_calls = find<int()>("cudaGetLastError")();
  const int error = of_device != 0 ? of_device : of_calls;
  return error == 0 ? std::string() : name_of_error(error);
}

void* CudaRuntime::own_stream() {
  if (stream_ == nullptr) {
    check(find<int(void**, unsigned)>("cudaStreamCreateWithFlags")(&stream_, kNonBlocking),
          "cudaStreamCreateWithFlags");
  }
  return stream_;
}

void CudaRuntime::open_pool(int descriptor) {
  check(find<int(int)>("cudaSetDevice")(kThisGpu.id), "cudaSetDevice");
  void* pool = nullptr;
  // A descriptor is passed as if it were a pointer.
  void* handle = reinterpret_cast<void*>(static_cast<std::uintptr_t>(descriptor));
  check(find<int(void**, void*, int, unsigned)>("cudaMemPoolImportFromShareableHandle")(
            &pool, handle, kFileDescriptor, 0),
        "cudaMemPoolImportFromShareableHandle");
  // What the exporting process may do with its pool does not come along.
  int flags = 0;
  Location location = kThisGpu;
  check(find<int(int*, void*, Location*)>("cudaMemPoolGetAccess")(&flags, pool, &location),
        "cudaMemPoolGetAccess");
  if (flags != kReadAndWrite) {
    const Access access = {kThisGpu, kReadAndWrite};
    check(find<int(void*, const Access*, std::size_t)>("cudaMemPoolSetAccess")(pool, &access, 1),
          "cudaMemPoolSetAccess");
  }
  pool_ = pool;
}

void* CudaRuntime::open_shared(int pool_descriptor, const std::string& exported) {
  if (pool_ == nullptr) {
    open_pool(pool_descriptor);
  }
  ExportedPointer pointer = pointer_from(exported);
  void* address = nullptr;
  check(find<int(void**, void*, ExportedPointer*)>("cudaMemPoolImportPointer")(&address, pool_,
                                                                               &pointer),
        "cudaMemPoolImportPointer");
  return address;
}

void* CudaRuntime::make_own(std::size_t bytes, const void* contents) {
  void* address = nullptr;
  check(find<int(void**, std::size_t)>("cudaMalloc")(&address, bytes), "cudaMalloc");
  if (contents != nullptr) {
    check(find<int(void*, const void*, std::size_t, int)>("cudaMemcpy")(address, contents, bytes,
                                                                        kDeviceToDevice),
          "cudaMemcpy");
  }
  return address;
}

void CudaRuntime::run_proof(const void* x, void* y) {
  void* library = nullptr;
  check(find<int(void**, const void*, void*, void*, unsigned, void*, void*, unsigned)>(
            "cudaLibraryLoadData")(&library, proof_image().data(), nullptr, nullptr, 0, nullptr,
                                   nullptr, 0),
        "cudaLibraryLoadData");
  void* kernel = nullptr;
  check(
      find<int(void**, void*, const char*)>("cudaLibraryGetKernel")(&kernel, library, kProofKernel),
      "cudaLibraryGetKernel");
  void* arguments[] = {&x, &y};
  constexpr Extent kBlock = {kProofThreads, 1, 1};
  constexpr Extent kGrid = {kProofElements / kProofThreads, 1, 1};
  check(find<int(const void*, Extent, Extent, void**, std::size_t, void*)>("cudaLaunchKernel")(
            kernel, kGrid, kBlock, arguments, 0, nullptr),
        "cudaLaunchKernel");
  check(find<int()>("cudaDeviceSynchronize")(), "cudaDeviceSynchronize");
}

void CudaRuntime::keep_freed_memory() {
  void* pool = nullptr;
  check(find<int(void**, int)>("cudaDeviceGetDefaultMemPool")(&pool, kThisGpu.id),
        "cudaDeviceGetDefaultMemPool");
  std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();
  check(
      find<int(void*, int, void*)>("cudaMemPoolSetAttribute")(pool, kReleaseThreshold, &everything),
      "cudaMemPoolSetAttribute");
}

void CudaRuntime::make_clock() {
  if (start_ != nullptr) {
    return;
  }
  auto* create = find<int(void**)>("cudaEventCreate");
  check(create(&start_), "cudaEventCreate");
  check(create(&stop_), "cudaEventCreate");
}

void CudaRuntime::start_clock(void* stream) {
  make_clock();
  check(find<int(void*, void*)>("cudaEventRecord")(start_, stream), "cudaEventRecord");
}

double CudaRuntime::stop_clock_us(void* stream) {
  constexpr double kMicrosecondsPerMillisecond = 1000;
  check(find<int(void*, void*)>("cudaEventRecord")(stop_, stream), "cudaEventRecord");
  check(find<int(void*)>("cudaEventSynchronize")(stop_), "cudaEventSynchronize");
  float milliseconds = 0;
  check(find<int(float*, void*, void*)>("cudaEventElapsedTime")(&milliseconds, start_, stop_),
        "cudaEventElapsedTime");
  return milliseconds * kMicrosecondsPerMillisecond;
}

}  // namespace rooflab

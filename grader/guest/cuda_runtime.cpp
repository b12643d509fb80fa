#include "grader/guest/cuda_runtime.h"

#include <dlfcn.h>

#include <array>
#include <charconv>
#include <stdexcept>

namespace rooflab {
namespace {

// As in the toolkit's driver_types.h, spelled out so that the guest builds without the toolkit.
struct IpcHandle {
  std::array<char, 64> bytes;
};
constexpr unsigned kLazyPeerAccess = 1;
constexpr int kDeviceToDevice = 3;

IpcHandle handle_from(const std::string& hexadecimal) {
  IpcHandle handle{};
  if (hexadecimal.size() != 2 * handle.bytes.size()) {
    throw std::runtime_error("a CUDA IPC handle has 128 hexadecimal digits");
  }
  for (std::size_t i = 0; i < handle.bytes.size(); ++i) {
    unsigned char byte = 0;
    const char* digits = hexadecimal.data() + 2 * i;
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) {
      throw std::runtime_error("a CUDA IPC handle holds something else than hexadecimal digits");
    }
    handle.bytes[i] = static_cast<char>(byte);
  }
  return handle;
}

}  // namespace

CudaRuntime::CudaRuntime() : library_(dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL)) {
  const char* reason = library_ == nullptr ? dlerror() : nullptr;
  why_missing_ = reason == nullptr ? "" : reason;
}

void CudaRuntime::require() const {
  if (library_ == nullptr) {
    throw std::runtime_error("libcudart.so.13 cannot be loaded: " + why_missing_);
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
  if (library_ == nullptr) {
    return {};
  }
  const int of_device = find<int()>("cudaDeviceSynchronize")();
  const int of_calls = find<int()>("cudaGetLastError")();
  const int error = of_device != 0 ? of_device : of_calls;
  return error == 0 ? std::string() : name_of_error(error);
}

void* CudaRuntime::open_ipc(const std::string& handle_in_hexadecimal) {
  void* address = nullptr;
  check(find<int(void**, IpcHandle, unsigned)>("cudaIpcOpenMemHandle")(
            &address, handle_from(handle_in_hexadecimal), kLazyPeerAccess),
        "cudaIpcOpenMemHandle");
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

void CudaRuntime::make_clock() {
  if (start_ != nullptr) {
    return;
  }
  auto* create = find<int(void**)>("cudaEventCreate");
  check(create(&start_), "cudaEventCreate");
  check(create(&stop_), "cudaEventCreate");
}

void CudaRuntime::start_clock() {
  make_clock();
  check(find<int(void*, void*)>("cudaEventRecord")(start_, nullptr), "cudaEventRecord");
}

double CudaRuntime::stop_clock_us() {
  constexpr double kMicrosecondsPerMillisecond = 1000;
  check(find<int(void*, void*)>("cudaEventRecord")(stop_, nullptr), "cudaEventRecord");
  check(find<int(void*)>("cudaEventSynchronize")(stop_), "cudaEventSynchronize");
  float milliseconds = 0;
  check(find<int(float*, void*, void*)>("cudaEventElapsedTime")(&milliseconds, start_, stop_),
        "cudaEventElapsedTime");
  return milliseconds * kMicrosecondsPerMillisecond;
}

}  // namespace rooflab

#include <algorithm>
#include <string>
#include <vector>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/image.h"
#include "simgpu/runtime/registry.h"

/// Libraries that a program loads while it runs: fat binaries, and PTX as NVRTC gives it.
namespace simgpu::runtime {
namespace {

/// Whether an option of the compiler changes nothing that a program can tell; `name` otherwise.
bool is_honoured(cudaJitOption option, const char** name) {
  switch (option) {
    case cudaJitWallTime:
    case cudaJitInfoLogBuffer:
    case cudaJitInfoLogBufferSizeBytes:
    case cudaJitErrorLogBuffer:
    case cudaJitErrorLogBufferSizeBytes:
    case cudaJitOptimizationLevel:
    case cudaJitFallbackStrategy:
    case cudaJitGenerateDebugInfo:
    case cudaJitLogVerbose:
    case cudaJitGenerateLineInfo:
    case cudaJitCacheMode:
      return true;
    case cudaJitMaxRegisters:
      *name = "cudaJitMaxRegisters";
      return false;
    case cudaJitThreadsPerBlock:
      *name = "cudaJitThreadsPerBlock";
      return false;
    case cudaJitMinCtaPerSm:
      *name = "cudaJitMinCtaPerSm";
      return false;
    case cudaJitMaxThreadsPerBlock:
      *name = "cudaJitMaxThreadsPerBlock";
      return false;
    default:
      *name = "this option";
      return false;
  }
}

/// The options of a load, with what is written back through them.
struct LoadOptions {
  cudaJitOption* jit;
  void** jit_values;
  unsigned jit_count;
  cudaLibraryOption* library;
  unsigned library_count;
};

/// Empties a log that the compiler would have written; a message comes as a finding instead.
void clear_logs(const LoadOptions& options) {
  for (unsigned i = 0; i < options.jit_count; ++i) {
    if (options.jit_values == nullptr) return;
    void*& value = options.jit_values[i];
    switch (options.jit[i]) {
      case cudaJitInfoLogBuffer:
      case cudaJitErrorLogBuffer:
        if (value != nullptr) *static_cast<char*>(value) = '\0';
        break;
      case cudaJitInfoLogBufferSizeBytes:
      case cudaJitErrorLogBufferSizeBytes:
      case cudaJitWallTime:
        value = nullptr;  // the option's value is itself the number, 0
        break;
      default:
        break;
    }
  }
}

cudaError_t check_options(const char* function, const LoadOptions& options) {
  if (options.jit_count != 0 && options.jit == nullptr) return cudaErrorInvalidValue;
  if (options.library_count != 0 && options.library == nullptr) return cudaErrorInvalidValue;
  for (unsigned i = 0; i < options.jit_count; ++i) {
    const char* name = nullptr;
    if (!is_honoured(options.jit[i], &name)) return refuse(function, name);
  }
  for (unsigned i = 0; i < options.library_count; ++i) {
    // The image is copied, so that a binary that stays where it is makes no difference.
    if (options.library[i] != cudaLibraryBinaryIsPreserved) {
      return refuse(function, "cudaLibraryHostUniversalFunctionAndDataTable");
    }
  }
  return cudaSuccess;
}

int load(cudaLibrary_t* library, std::span<const std::byte> image, const LoadOptions& options) {
  clear_logs(options);
  Binary* binary = nullptr;
  const int error = Registry::instance().load_library(image, &binary);
  if (error == 0) *library = reinterpret_cast<cudaLibrary_t>(binary);
  return error;
}

const Binary* binary_of(cudaLibrary_t library) { return reinterpret_cast<const Binary*>(library); }

int enumerate(cudaKernel_t* kernels, unsigned most, cudaLibrary_t library) {
  if (kernels == nullptr) return cudaErrorInvalidValue;
  Registry& registry = Registry::instance();
  std::uint32_t count = 0;
  int error = registry.library_kernel_count(binary_of(library), &count);
  for (unsigned i = 0; error == 0 && i < std::min(most, count); ++i) {
    std::string name;
    Kernel* kernel = nullptr;
    error = registry.library_kernel_name(binary_of(library), i, &name);
    if (error == 0) error = registry.library_kernel(binary_of(library), name, &kernel);
    if (error == 0) kernels[i] = reinterpret_cast<cudaKernel_t>(kernel);
  }
  return error;
}

}  // namespace
}  // namespace simgpu::runtime

namespace runtime = simgpu::runtime;
using runtime::api;
using runtime::binary_of;
using runtime::LoadOptions;
using runtime::record;
using runtime::refuse;
using runtime::Registry;

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* jit,
                                void** jit_values, unsigned jit_count,
                                cudaLibraryOption* library_options, void** /*values*/,
                                unsigned library_count) {
  return api([&] {
    const LoadOptions options{jit, jit_values, jit_count, library_options, library_count};
    if (library == nullptr || code == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    if (const int error = check_options("cudaLibraryLoadData", options); error != 0) return error;
    return runtime::load(library, runtime::image_at(static_cast<const std::byte*>(code)), options);
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file, cudaJitOption* jit,
                                    void** jit_values, unsigned jit_count,
                                    cudaLibraryOption* library_options, void** /*values*/,
                                    unsigned library_count) {
  return api([&] {
    const LoadOptions options{jit, jit_values, jit_count, library_options, library_count};
    if (library == nullptr || file == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    if (const int error = check_options("cudaLibraryLoadFromFile", options); error != 0) {
      return error;
    }
    std::vector<std::byte> image;
    if (!runtime::read_image(file, &image)) return static_cast<int>(cudaErrorFileNotFound);
    return runtime::load(library, image, options);
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return api([&] { return Registry::instance().unload_library(binary_of(library)); });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return api([&] {
    if (kernel == nullptr || name == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    runtime::Kernel* found = nullptr;
    const int error = Registry::instance().library_kernel(binary_of(library), name, &found);
    if (error == 0) *kernel = reinterpret_cast<cudaKernel_t>(found);
    return error;
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return api([&] {
    std::uint32_t kernels = 0;
    if (count == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    const int error = Registry::instance().library_kernel_count(binary_of(library), &kernels);
    if (error == 0) *count = kernels;
    return error;
  });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned most,
                                        cudaLibrary_t library) {
  return api([&] { return runtime::enumerate(kernels, most, library); });
}

cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  return api([&] {
    if (name == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    runtime::Variable variable;
    const int error = Registry::instance().library_variable(binary_of(library), name, &variable);
    if (error != 0) return error;
    if (pointer != nullptr) *pointer = reinterpret_cast<void*>(variable.address);
    if (bytes != nullptr) *bytes = variable.bytes;
    return error;
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int device) {
  if (device != 0) return record(cudaErrorInvalidDevice);
  return cudaFuncSetAttribute(kernel, attribute, value);
}

}  // extern "C"

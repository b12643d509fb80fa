#include <optional>
#include <utility>
#include <vector>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/caller.h"
#include "simgpu/runtime/capture.h"
#include "simgpu/runtime/kernel_work.h"
#include "simgpu/runtime/registry.h"

/// Launching kernels, and what nvcc's generated host code calls around it.
namespace simgpu::runtime {
namespace {

struct CallConfiguration {
  dim3 grid, block;
  size_t dynamic_shared_bytes = 0;
  cudaStream_t stream = nullptr;
  protocol::Caller caller = {};  ///< where the `<<<>>>` stands
};

/// Of the configuration that this thread has taken last, and not launched with.
std::optional<protocol::Caller>& taken_caller() {
  thread_local std::optional<protocol::Caller> caller;
  return caller;
}

std::vector<CallConfiguration>& configurations() {
  thread_local std::vector<CallConfiguration> stack;
  return stack;
}

/// While one lives, requests come from where the `<<<>>>` stands whose configuration was taken
/// last, if that was for this launch.
class LaunchCaller {
 public:
  LaunchCaller() {
    if (const auto taken = std::exchange(taken_caller(), std::nullopt)) scope_.emplace(*taken);
  }

  bool has_configuration() const { return scope_.has_value(); }

 private:
  std::optional<CallerScope> scope_;
};

/// What a launch is besides its configuration.
struct Form {
  bool cooperative = false;
  bool by_syntax = false;  ///< as in KernelWork
};

int submit(const void* function, dim3 grid, dim3 block, void** arguments,
           size_t dynamic_shared_bytes, cudaStream_t stream, Form form = {}) {
  KernelWork work;
  if (int error = describe_kernel(function, grid, block, arguments, dynamic_shared_bytes, &work);
      error != 0) {
    return error;
  }
  work.cooperative = form.cooperative;
  work.by_syntax = form.by_syntax;
  CaptureInfo info;
  const bool capturing = capture_info(stream, &info) == 0 && info.graph != nullptr;
  if (capturing) {
    if (const int error = check(work); error != 0) {
      spoil_capture(stream);
      return error;
    }
  }
  if (const auto captured = capture(stream, work)) return *captured;
  return launch(work, stream);
}

/// The name of an attribute that a launch cannot have here, or nullptr. Hints are taken as given,
/// and so is what asks for no more than any launch has.
const char* refused_attribute(const cudaLaunchAttribute& attribute) {
  // cudaLaunchAttributePreferredSharedMemoryCarveout, which headers of CUDA 12.4 do not have.
  constexpr int kPreferredCarveout = 14;
  switch (int{attribute.id}) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributeProgrammaticStreamSerialization:  // it may start early, and does not
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case kPreferredCarveout:
    case cudaLaunchAttributeCooperative:
      return nullptr;
    case cudaLaunchAttributeClusterDimension: {
      const auto& cluster = attribute.val.clusterDim;
      const bool single = cluster.x <= 1 && cluster.y <= 1 && cluster.z <= 1;
      return single ? nullptr : "cudaLaunchAttributeClusterDimension";
    }
    case cudaLaunchAttributeProgrammaticEvent:
      return "cudaLaunchAttributeProgrammaticEvent";
    case cudaLaunchAttributeLaunchCompletionEvent:
      return "cudaLaunchAttributeLaunchCompletionEvent";
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
      return "cudaLaunchAttributeDeviceUpdatableKernelNode";
    default:
      return "this launch attribute";
  }
}

}  // namespace
}  // namespace simgpu::runtime

using simgpu::runtime::api;
using simgpu::runtime::Binary;
using simgpu::runtime::configurations;
using simgpu::runtime::Kernel;
using simgpu::runtime::per_thread;
using simgpu::runtime::Registry;

extern "C" {

// Called by the code that nvcc generates; prototypes as in crt/host_runtime.h.
// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's.

void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(Registry::instance().add_binary(wrapper));
}

void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}

void __cudaUnregisterFatBinary(void** handle) {
  try {
    Registry::instance().remove_binary(reinterpret_cast<Binary*>(handle));
  } catch (...) {  // NOLINT(bugprone-empty-catch): the process is ending
  }
}

void __cudaRegisterFunction(void** handle, const char* host_function, char* /*device_function*/,
                            const char* name, int /*thread_limit*/, uint3* /*thread*/,
                            uint3* /*block*/, dim3* /*block_size*/, dim3* /*grid_size*/,
                            int* /*warp_size*/) {
  Registry::instance().add_kernel(reinterpret_cast<Binary*>(handle), host_function, name);
}

void __cudaRegisterVar(void** handle, char* host_variable, char* /*device_address*/,
                       const char* name, int /*external*/, size_t /*bytes*/, int /*constant*/,
                       int /*global*/) {
  Registry::instance().add_variable(reinterpret_cast<Binary*>(handle), host_variable, name);
}

void __cudaRegisterManagedVar(void** handle, void** host_pointer, char* /*device_address*/,
                              const char* name, int /*external*/, size_t /*bytes*/,
                              int /*constant*/, int /*global*/) {
  Registry::instance().add_managed(reinterpret_cast<Binary*>(handle), host_pointer, name);
}

/// Before the program's first use of a managed variable.
char __cudaInitModule(void** handle) {
  const cudaError_t error =
      api([&] { return Registry::instance().initialise(*reinterpret_cast<Binary*>(handle)); });
  return error == cudaSuccess ? 1 : 0;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_shared_bytes,
                                     cudaStream_t stream) {
  configurations().push_back(
      {grid, block, dynamic_shared_bytes, stream, simgpu::runtime::caller_while_cheap()});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* dynamic_shared_bytes,
                                       void* stream) {
  auto& stack = configurations();
  if (stack.empty()) return simgpu::runtime::record(cudaErrorMissingConfiguration);
  const auto top = stack.back();
  stack.pop_back();
  *grid = top.grid;
  *block = top.block;
  *dynamic_shared_bytes = top.dynamic_shared_bytes;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  simgpu::runtime::taken_caller() = top.caller;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* function) {
  return api([&] {
    Kernel* kernel = Registry::instance().kernel(function);
    *handle = reinterpret_cast<cudaKernel_t>(kernel);
    return kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* handle, const void* function) {
  return __cudaGetKernel(handle, function);
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t dynamic_shared_bytes, cudaStream_t stream) {
  const simgpu::runtime::LaunchCaller caller;
  // What nvcc of CUDA 12 makes of <<<>>> takes its configuration and then makes this very call.
  const bool by_syntax = caller.has_configuration();
  const cudaError_t error = api([&] {
    return simgpu::runtime::submit(function, grid, block, arguments, dynamic_shared_bytes, stream,
                                   {.by_syntax = by_syntax});
  });
  return by_syntax ? simgpu::runtime::hide_from_caller(error) : error;
}

cudaError_t cudaLaunchKernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments,
                                  size_t dynamic_shared_bytes, cudaStream_t stream) {
  return cudaLaunchKernel(function, grid, block, arguments, dynamic_shared_bytes,
                          per_thread(stream));
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t dynamic_shared_bytes, cudaStream_t stream) {
  const simgpu::runtime::LaunchCaller caller;
  return simgpu::runtime::hide_from_caller(api([&] {
    return simgpu::runtime::submit(kernel, grid, block, arguments, dynamic_shared_bytes, stream,
                                   {.by_syntax = true});
  }));
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t dynamic_shared_bytes, cudaStream_t stream) {
  return __cudaLaunchKernel(kernel, grid, block, arguments, dynamic_shared_bytes,
                            per_thread(stream));
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, size_t dynamic_shared_bytes,
                                        cudaStream_t stream) {
  return api([&] {
    return simgpu::runtime::submit(function, grid, block, arguments, dynamic_shared_bytes, stream,
                                   {.cooperative = true});
  });
}

cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* function, dim3 grid, dim3 block,
                                             void** arguments, size_t dynamic_shared_bytes,
                                             cudaStream_t stream) {
  return cudaLaunchCooperativeKernel(function, grid, block, arguments, dynamic_shared_bytes,
                                     per_thread(stream));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  if (config == nullptr) return simgpu::runtime::record(cudaErrorInvalidValue);
  if (config->numAttrs != 0 && config->attrs == nullptr) {
    return simgpu::runtime::record(cudaErrorInvalidValue);
  }
  bool cooperative = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative)
      cooperative = attribute.val.cooperative != 0;
    if (const char* name = simgpu::runtime::refused_attribute(attribute); name != nullptr) {
      return simgpu::runtime::refuse("cudaLaunchKernelExC", name);
    }
  }
  const auto launch = cooperative ? &cudaLaunchCooperativeKernel : &cudaLaunchKernel;
  return launch(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                config->stream);
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* function,
                                     void** arguments) {
  if (config == nullptr) return simgpu::runtime::record(cudaErrorInvalidValue);
  cudaLaunchConfig_t own = *config;
  own.stream = per_thread(own.stream);
  return cudaLaunchKernelExC(&own, function, arguments);
}

// NOLINTEND(bugprone-reserved-identifier)

}  // extern "C"

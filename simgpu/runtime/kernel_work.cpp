#include "simgpu/runtime/kernel_work.h"

#include <cstring>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/registry.h"

namespace simgpu::runtime {
namespace {

Dim3 to_dim3(const dim3& size) { return {size.x, size.y, size.z}; }

int ask(GuestOperation operation, const KernelWork& work, cudaStream_t stream) {
  std::vector<std::byte> request;
  if (const int error = launch_request(work, stream, &request); error != 0) return error;
  return Client::instance().call(operation, request).error;
}

}  // namespace

int describe_kernel(const void* function, dim3 grid, dim3 block, void** arguments,
                    size_t dynamic_shared_bytes, KernelWork* work) {
  Kernel* kernel = nullptr;
  if (const int error = Registry::instance().resolve(function, &kernel); error != 0) return error;
  if (dynamic_shared_bytes > UINT32_MAX) return cudaErrorInvalidValue;
  *work = {.function = function,
           .grid = grid,
           .block = block,
           .dynamic_shared_bytes = static_cast<unsigned>(dynamic_shared_bytes),
           .parameters = std::vector<std::byte>(kernel->attributes.parameter_bytes)};
  for (std::size_t i = 0; i < kernel->parameters.size(); ++i) {
    const Kernel::Parameter& parameter = kernel->parameters[i];
    if (parameter.bytes == 0) continue;
    if (arguments == nullptr || arguments[i] == nullptr ||
        parameter.offset + parameter.bytes > work->parameters.size()) {
      return cudaErrorInvalidValue;
    }
    std::memcpy(work->parameters.data() + parameter.offset, arguments[i], parameter.bytes);
  }
  return cudaSuccess;
}

std::vector<void*> argument_pointers(KernelWork& work) {
  Kernel* kernel = nullptr;
  std::vector<void*> pointers;
  if (Registry::instance().resolve(work.function, &kernel) != 0) return pointers;
  for (const Kernel::Parameter& parameter : kernel->parameters) {
    pointers.push_back(work.parameters.data() + parameter.offset);
  }
  return pointers;
}

int launch_request(const KernelWork& work, cudaStream_t stream, std::vector<std::byte>* request) {
  Kernel* kernel = nullptr;
  if (const int error = Registry::instance().resolve(work.function, &kernel); error != 0)
    return error;
  wire::Writer writer;
  writer.put(protocol::LaunchMessage{.module = kernel->binary->module,
                                     .kernel = kernel->index,
                                     .stream = stream_number(stream),
                                     .grid = to_dim3(work.grid),
                                     .block = to_dim3(work.block),
                                     .dynamic_shared_bytes = work.dynamic_shared_bytes,
                                     .cooperative = work.cooperative ? 1U : 0U,
                                     .by_syntax = work.by_syntax ? 1U : 0U});
  writer.append(work.parameters);
  *request = writer.take();
  return cudaSuccess;
}

int launch(const KernelWork& work, cudaStream_t stream) {
  return ask(GuestOperation::launch, work, stream);
}

int check(const KernelWork& work) { return ask(GuestOperation::check_launch, work, nullptr); }

}  // namespace simgpu::runtime

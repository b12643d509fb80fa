// What a guest may ask of its modules and kernels.

#include <algorithm>
#include <string>

#include "simgpu/device/guest_session.h"
#include "simgpu/device/launch_rules.h"

namespace simgpu {

CudaError GuestSession::module_begin(Call& call) {
  image_.clear();
  image_bytes_ = call.request.get<std::uint64_t>();
  image_origin_ = protocol::ImageOrigin::program;
  if (!call.request.empty()) image_origin_ = call.request.get<protocol::ImageOrigin>();
  return image_bytes_ <= protocol::kMaxImageBytes ? CudaError::success
                                                  : CudaError::memory_allocation;
}

CudaError GuestSession::module_data(Call& call) {
  const auto bytes = call.request.rest();
  if (image_bytes_ > protocol::kMaxImageBytes || bytes.size() > image_bytes_ - image_.size()) {
    throw wire::MessageError("more bytes than the module has");
  }
  image_.insert(image_.end(), bytes.begin(), bytes.end());
  return CudaError::success;
}

CudaError GuestSession::module_end(Call& call) {
  std::uint64_t handle = 0;
  device_.log().count_call("cuModuleLoadData");  // whichever function of the runtime it serves
  const CudaError error = device_.modules().load(image_, &handle, image_origin_);
  image_ = {};
  image_bytes_ = 0;
  call.answer.put(handle);
  return error;
}

CudaError GuestSession::kernel_count(Call& call) {
  const LoadedModule* module = device_.modules().find(call.request.get<std::uint64_t>());
  if (module == nullptr) return CudaError::invalid_resource_handle;
  call.answer.put(static_cast<std::uint32_t>(module->kernels.size()));
  return CudaError::success;
}

CudaError GuestSession::kernel_name(Call& call) {
  const LoadedModule* module = device_.modules().find(call.request.get<std::uint64_t>());
  const auto index = call.request.get<std::uint32_t>();
  if (module == nullptr) return CudaError::invalid_resource_handle;
  if (index >= module->kernels.size()) return CudaError::invalid_value;
  const std::string& name = module->kernels[index].name;
  if (name.size() > protocol::kMaxName) return CudaError::invalid_value;
  call.answer.put_string(name);
  return CudaError::success;
}

LoadedKernel* GuestSession::requested_kernel(Call& call) {
  const auto module = call.request.get<std::uint64_t>();
  return device_.modules().find_kernel(module, call.request.get<std::uint64_t>());
}

CudaError GuestSession::set_shared_limit(Call& call) {
  LoadedKernel* const kernel = requested_kernel(call);
  const auto bytes = call.request.get<std::uint32_t>();
  if (kernel == nullptr) return CudaError::invalid_device_function;
  if (std::string reason = beyond_shared_memory(*kernel, bytes, device_.gpu()); !reason.empty()) {
    device_.log().add(Finding{.code = "RL0308",
                              .kernel = *kernel->display_name,
                              .where = device_.log().host_site(),
                              .message = "cudaFuncSetAttribute was refused: " + reason});
    return CudaError::invalid_value;
  }
  kernel->max_dynamic_shared_bytes = bytes;
  return CudaError::success;
}

CudaError GuestSession::symbol_info(Call& call) {
  const LoadedModule* module = device_.modules().find(call.request.get<std::uint64_t>());
  const std::string name = call.request.get_string(protocol::kMaxName);
  if (module == nullptr) return CudaError::invalid_symbol;
  const auto found = module->symbols.find(name);
  if (found == module->symbols.end()) return CudaError::invalid_symbol;
  call.answer.put(found->second.address);
  call.answer.put(found->second.bytes);
  return CudaError::success;
}

CudaError GuestSession::kernel_info(Call& call) {
  const auto handle = call.request.get<std::uint64_t>();
  const LoadedModule* module = device_.modules().find(handle);
  const std::string name = call.request.get_string(protocol::kMaxName);
  const int index = module == nullptr ? -1 : module->kernel_index(name);
  if (index < 0) return CudaError::invalid_device_function;
  const LoadedKernel* const found =
      device_.modules().find_kernel(handle, static_cast<std::uint64_t>(index));
  if (found == nullptr) return CudaError::invalid_ptx;
  const LoadedKernel& kernel = *found;
  const KernelInfo& info = *kernel.info;
  protocol::KernelAttributes attributes;
  attributes.parameter_bytes = info.parameter_bytes;
  attributes.registers = kernel.registers;
  attributes.static_shared_bytes = kernel.static_shared_bytes;
  attributes.local_bytes = kernel.local_bytes;
  attributes.max_dynamic_shared_bytes = kernel.max_dynamic_shared_bytes;
  attributes.target = module->target;
  // Registers are given out in units of 8 per thread, for four warps at a time.
  const unsigned per_group = (kernel.registers + 7) / 8 * 8 * 128;
  const auto by_registers = static_cast<unsigned>(device_.gpu().registers_per_sm) / per_group * 128;
  attributes.max_threads_per_block =
      std::min(static_cast<unsigned>(device_.gpu().max_threads_per_block), by_registers);
  const std::uint64_t bound = std::uint64_t{info.max_threads[0]} *
                              std::max(info.max_threads[1], 1u) * std::max(info.max_threads[2], 1u);
  if (bound != 0 && bound < attributes.max_threads_per_block) {
    attributes.max_threads_per_block = static_cast<std::uint32_t>(bound);
  }
  call.answer.put(static_cast<std::uint64_t>(index));
  call.answer.put(attributes);
  const std::size_t count = std::min(info.parameter_offsets.size(), info.parameter_sizes.size());
  call.answer.put(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    call.answer.put(info.parameter_offsets[i]);
    call.answer.put(info.parameter_sizes[i]);
  }
  return CudaError::success;
}

CudaError GuestSession::launch(Call& call) {
  const auto message = call.request.get<protocol::LaunchMessage>();
  if (message.by_syntax != 0) device_.log().rename_call("__cudaLaunchKernel");
  return device_.launches().launch(message, call.request.rest());
}

CudaError GuestSession::check_launch(Call& call) {
  const auto message = call.request.get<protocol::LaunchMessage>();
  return device_.launches().check(message, call.request.rest().size());
}

CudaError GuestSession::occupancy(Call& call) {
  const LoadedKernel* const kernel = requested_kernel(call);
  const auto threads = call.request.get<std::uint32_t>();
  const auto dynamic_bytes = call.request.get<std::uint32_t>();
  if (kernel == nullptr) return CudaError::invalid_device_function;
  if (threads == 0) return CudaError::invalid_value;
  unsigned blocks = 0;
  const bool possible = threads <= static_cast<unsigned>(device_.gpu().max_threads_per_block) &&
                        dynamic_bytes <= kernel->max_dynamic_shared_bytes;
  if (possible) {
    const LaunchShape shape = shape_of(*kernel, {1, 1, 1}, {threads, 1, 1}, dynamic_bytes);
    blocks = simgpu::occupancy(shape, device_.gpu()).blocks_per_sm;
  }
  call.answer.put(static_cast<std::uint32_t>(blocks));
  return CudaError::success;
}

}  // namespace simgpu

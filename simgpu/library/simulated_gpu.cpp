#include "simgpu/simulated_gpu.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "simgpu/device/device.h"
#include "simgpu/exec/cpu_features.h"
#include "simgpu/machine_code/assembler.h"
#include "specs/gpu_spec.h"

namespace simgpu {
namespace {

namespace fs = std::filesystem;

/// share/simgpu/gpus of the tree that this library is installed in.
fs::path installed_gpus() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&installed_gpus), &info) == 0) return {};
  return fs::absolute(info.dli_fname).parent_path().parent_path() / "share/simgpu/gpus";
}

gpu_spec::GpuSpec gpu_of(const std::string& name) {
  if (name.ends_with(".toml")) return gpu_spec::load(name);
  return gpu_spec::find(installed_gpus(), name);
}

machine_code::AssemblerOptions assembler_of(const SimulatedGpuOptions& options) {
  if (options.ptxas.empty()) return {};
  const std::string version = machine_code::version_of(options.ptxas);
  if (version.empty()) {
    throw std::runtime_error(fmt::format("{} --version fails", options.ptxas));
  }
  return {.command = {fs::absolute(options.ptxas).string()},
          .version = version,
          .folder = toolchain::CodeCache::default_folder("machine_code")};
}

}  // namespace

struct SimulatedGpu::Impl {
  explicit Impl(const SimulatedGpuOptions& options)
      : assembler(assembler_of(options)),
        device(gpu_of(options.gpu), {.workers = options.workers,
                                     .checkers = options.checkers,
                                     .instruction_budget = options.instruction_budget,
                                     .assembler = options.ptxas.empty() ? nullptr : &assembler}) {
    device.mark();
  }

  /// Turns an error into an exception, with the last finding, which says why.
  void check(CudaError error, const std::string& what) {
    if (error == CudaError::success) return;
    const std::vector<Finding>& findings = device.log().activity().findings;
    const std::string why = findings.empty() ? "" : ": " + findings.back().message;
    throw SimulatedGpuError(fmt::format("{}: {}{}", what, name_of(error), why));
  }

  /// The device, unless a fault has ended its work: the device alone would go on allocating.
  Device& working(const std::string& what) {
    check(device.fault().error(), what);
    return device;
  }

  const LoadedModule& module(std::uint64_t handle) {
    const LoadedModule* module = device.modules().find(handle);
    if (module == nullptr) throw SimulatedGpuError(fmt::format("there is no module {}", handle));
    return *module;
  }

  const machine_code::Assembler assembler;
  Device device;
};

namespace {

/// @throws SimulatedGpuError naming the kernels there are
std::size_t kernel_index(const LoadedModule& module, const std::string& name) {
  if (const int index = module.kernel_index(name); index >= 0) {
    return static_cast<std::size_t>(index);
  }
  std::vector<std::size_t> matching;
  std::string known;
  for (std::size_t i = 0; i < module.kernels.size(); ++i) {
    if (*module.kernels[i].display_name == name) matching.push_back(i);
    known += (i == 0 ? "" : ", ") + module.kernels[i].name;
  }
  if (matching.size() == 1) return matching[0];
  throw SimulatedGpuError(fmt::format("{} kernel is called {}; the module has: {}",
                                      matching.empty() ? "no" : "more than one", name, known));
}

std::vector<std::byte> parameters_of(const KernelInfo& kernel,
                                     const std::vector<KernelArgument>& arguments) {
  if (arguments.size() != kernel.parameter_sizes.size()) {
    throw SimulatedGpuError(fmt::format("{} has {} parameters, and got {} arguments", kernel.name,
                                        kernel.parameter_sizes.size(), arguments.size()));
  }
  std::vector<std::byte> parameters(kernel.parameter_bytes);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto bytes = arguments[i].bytes();
    if (bytes.size() != kernel.parameter_sizes[i]) {
      throw SimulatedGpuError(fmt::format("parameter {} of {} has {} bytes, its argument {}", i,
                                          kernel.name, kernel.parameter_sizes[i], bytes.size()));
    }
    std::ranges::copy(bytes, parameters.begin() + kernel.parameter_offsets[i]);
  }
  return parameters;
}

protocol::CopyRequest copy_of(std::uint64_t address, std::uint64_t bytes) {
  return {.address = address, .pitch = bytes, .width = bytes, .height = 1};
}

}  // namespace

SimulatedGpu::SimulatedGpu(const SimulatedGpuOptions& options) {
  require_cpu_features();
  impl_ = std::make_unique<Impl>(options);
}
SimulatedGpu::~SimulatedGpu() = default;
SimulatedGpu::SimulatedGpu(SimulatedGpu&&) noexcept = default;
SimulatedGpu& SimulatedGpu::operator=(SimulatedGpu&&) noexcept = default;

std::uint64_t SimulatedGpu::allocate(std::uint64_t bytes) {
  std::uint64_t address = 0;
  impl_->check(impl_->working("allocate").allocations().allocate(bytes, &address),
               fmt::format("allocate({})", bytes));
  return address;
}

void SimulatedGpu::release(std::uint64_t address) {
  impl_->check(impl_->working("release").allocations().release(address), "release");
}

void SimulatedGpu::write(std::uint64_t address, std::span<const std::byte> bytes) {
  const protocol::CopyRequest request = copy_of(address, bytes.size());
  impl_->check(impl_->working("write").copies().begin(request, true), "write");
  impl_->device.copies().write_packed(request, 0, bytes);
}

void SimulatedGpu::read(std::uint64_t address, std::span<std::byte> bytes) {
  const protocol::CopyRequest request = copy_of(address, bytes.size());
  impl_->check(impl_->working("read").copies().begin(request, false), "read");
  impl_->device.copies().read_packed(request, 0, bytes);
}

std::uint64_t SimulatedGpu::load(std::string_view module) {
  std::uint64_t handle = 0;
  const auto bytes = std::as_bytes(std::span(module.data(), module.size()));
  impl_->check(impl_->working("load").modules().load(bytes, &handle), "load");
  return handle;
}

void SimulatedGpu::launch(std::uint64_t module, const std::string& kernel, Dim3 grid, Dim3 block,
                          const std::vector<KernelArgument>& arguments,
                          std::uint32_t dynamic_shared_bytes) {
  const LoadedModule& loaded = impl_->module(module);
  const std::size_t index = kernel_index(loaded, kernel);
  const LoadedKernel* const found = impl_->device.modules().find_kernel(module, index);
  impl_->check(found == nullptr ? CudaError::invalid_ptx : CudaError::success, kernel);
  const auto parameters = parameters_of(*found->info, arguments);
  const protocol::LaunchMessage message{.module = module,
                                        .kernel = index,
                                        .grid = grid,
                                        .block = block,
                                        .dynamic_shared_bytes = dynamic_shared_bytes};
  impl_->check(impl_->working(kernel).launches().launch(message, parameters), kernel);
  // An error within the kernel is told when somebody waits for it, which is here.
  impl_->check(impl_->device.fault().error(), kernel);
}

Activity SimulatedGpu::collect() {
  Activity activity = impl_->device.collect();
  impl_->device.mark();
  // Whoever gives PTX has no source to settle these by.
  std::erase_if(activity.findings, [](const Finding& finding) { return finding.unless_returned; });
  return activity;
}

}  // namespace simgpu

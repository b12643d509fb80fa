#pragma once

#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "simgpu/exec/engine.h"
#include "simgpu/exec/kernel_heap.h"
#include "simgpu/ptx/parser.h"

/// A device with the test kernels (testdata/kernels.cu), for tests that read as sentences.
namespace simgpu::testing {

/// Options of one launch with their usual values.
struct Launch {
  Dim3 grid{1, 1, 1};
  Dim3 block{32, 1, 1};
  unsigned workers = 1;
  bool checkers = true;
  std::uint32_t shared = 0;
  std::uint32_t stack = kDefaultStackBytes;
  std::uint64_t budget = 50'000'000;
  double warp_limit_us = 0;
  bool bounds = false;
  bool cooperative = false;
  std::uint64_t secret = 0;  ///< of a bounded launch
  std::uint64_t first_block = 0;
  bool backwards = false;
  StepObserver* observer = nullptr;
};

class Device {
 public:
  explicit Device(const std::string& ptx_text) : memory_(std::uint64_t{1} << 28) {
    ptx::Module module = ptx::parse(ptx_text);
    for (const std::string& function : functions_with_address(module)) {
      symbols_[function] = memory_.allocate(16, function).value();
    }
    for (const ptx::Variable& variable : module.variables) {
      if (variable.space != ptx::Space::global && variable.space != ptx::Space::constant) continue;
      const bool is_constant = variable.space == ptx::Space::constant;
      const std::uint64_t size = std::max<std::uint64_t>(variable.size(), 1);
      const std::uint64_t address = memory_.allocate(size, variable.name, is_constant).value();
      std::vector<std::uint8_t> bytes = variable.initial_bytes;
      bytes.resize(variable.size());
      for (const ptx::Relocation& relocation : variable.relocations) {
        const std::uint64_t target = symbols_.at(relocation.symbol);
        std::memcpy(bytes.data() + relocation.byte_offset, &target, relocation.width);
      }
      memory_.write(address, std::as_bytes(std::span(bytes)));
      symbols_[variable.name] = address;
    }
    program_ = lower(module, symbols_);
  }

  static Device with_test_kernels() { return from_file(SIMGPU_TEST_PTX); }

  static Device from_file(const char* path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return Device(text.str());
  }

  template <class T>
  std::uint64_t put(const std::vector<T>& values) {
    const std::uint64_t address = memory_.allocate(values.size() * sizeof(T), "test data").value();
    memory_.write(address, std::as_bytes(std::span(values)));
    return address;
  }

  template <class T>
  std::vector<T> get(std::uint64_t address, std::size_t count) const {
    std::vector<T> values(count);
    memory_.read(address, std::as_writable_bytes(std::span(values)));
    return values;
  }

  /// Of a kernel that the program has.
  const KernelInfo& info(const std::string& kernel) const {
    return *find_kernel(*program_, kernel);
  }

  /// Launches with arguments laid out as the kernel's parameters are.
  template <class... Arguments>
  LaunchResult run(const std::string& kernel, const Launch& launch, Arguments... arguments) {
    const KernelInfo* info = find_kernel(*program_, kernel);
    std::vector<std::byte> parameters(info == nullptr ? 0 : info->parameter_bytes);
    std::size_t next = 0;
    [[maybe_unused]] const auto add = [&](const auto& argument) {
      std::memcpy(parameters.data() + info->parameter_offsets.at(next++), &argument,
                  sizeof(argument));
    };
    (add(arguments), ...);
    LaunchRequest request;
    request.kernel = kernel;
    request.grid = launch.grid;
    request.block = launch.block;
    request.dynamic_shared_bytes = launch.shared;
    request.stack_bytes = launch.stack;
    request.parameters = parameters;
    request.resident_blocks = 8;
    request.heap = &heap_;
    if (launch.cooperative) request.grid_workspace = put(std::vector<std::uint64_t>(1));
    request.l1_bytes_per_block = 32 << 10;
    gpu_spec::GpuSpec gpu;
    gpu.sm_count = 8;
    gpu.max_warps_per_sm = 64;
    gpu.clock_mhz = 1000;
    gpu.l2_bytes = 1 << 20;
    gpu.l1_bytes_per_sm = 128 << 10;
    return execute(*program_, request, memory_, gpu,
                   {.workers = launch.workers,
                    .checkers = launch.checkers,
                    .instruction_budget = launch.budget,
                    .warp_limit_us = launch.warp_limit_us,
                    .bounds_long_launches = launch.bounds,
                    .secret = launch.secret,
                    .first_block = launch.first_block,
                    .backwards = launch.backwards,
                    .observer = launch.observer});
  }

  DeviceMemory& memory() { return memory_; }
  const Program& program() const { return *program_; }
  std::uint64_t symbol(const std::string& name) const { return symbols_.at(name); }

 private:
  DeviceMemory memory_;
  KernelHeap heap_{memory_};
  SymbolTable symbols_;
  std::shared_ptr<const Program> program_;
};

}  // namespace simgpu::testing

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "simgpu/device/protocol.h"

namespace simgpu::runtime {

/// One fat binary of the program; it reaches the device when something in it is first used.
struct Binary {
  const std::byte* container = nullptr;
  bool loaded = false;
  int error = 0;             ///< of loading
  std::uint64_t module = 0;  ///< the device's number for it
};

/// One __global__ function.
struct Kernel {
  Binary* binary = nullptr;
  std::string name;  ///< mangled
  bool resolved = false;
  std::uint64_t index = 0;
  protocol::KernelAttributes attributes;
  struct Parameter {
    std::uint32_t offset = 0, bytes = 0;
  };
  std::vector<Parameter> parameters;
};

/// One __device__ or __constant__ variable.
struct Variable {
  Binary* binary = nullptr;
  std::string name;
  bool resolved = false;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// What the program's static constructors announced, by the host addresses that stand for it.
class Registry {
 public:
  static Registry& instance();

  Binary* add_binary(const void* wrapper);
  void remove_binary(Binary* binary);
  void add_kernel(Binary* binary, const void* host_function, const char* name);
  void add_variable(Binary* binary, const void* host_variable, const char* name);

  /// The kernel behind a host function or a cudaKernel_t, or nullptr.
  Kernel* kernel(const void* function);
  /// Loads what is needed. @returns a cudaError_t
  int resolve(Kernel& kernel);
  int resolve(const void* host_variable, Variable** variable);
  /// After a device reset everything must be loaded again.
  void forget_loaded();

 private:
  int load(Binary& binary);

  std::recursive_mutex mutex_;
  std::vector<std::unique_ptr<Binary>> binaries_;
  std::map<const void*, std::unique_ptr<Kernel>> kernels_;
  std::set<const void*> handles_;
  std::map<const void*, std::unique_ptr<Variable>> variables_;
};

}  // namespace simgpu::runtime

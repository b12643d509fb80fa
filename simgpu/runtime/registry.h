#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "simgpu/device/protocol.h"

namespace simgpu::runtime {

/// One fat binary of the program, which reaches the device when something in it is first used, or a
/// library that the program loaded while it ran.
struct Binary {
  const std::byte* container = nullptr;
  protocol::ImageOrigin origin = protocol::ImageOrigin::program;
  std::vector<std::byte> image;  ///< of a library: a fat binary or the text of a PTX module
  std::uint64_t life = 0;        ///< in which it was loaded, Context::life(); 0: in none
  int error = 0;                 ///< of loading
  std::uint64_t module = 0;      ///< the device's number for it
};

/// One __global__ function.
struct Kernel {
  Binary* binary = nullptr;
  std::string name;        ///< mangled
  std::uint64_t life = 0;  ///< in which what follows was asked for, but for shared_limit
  std::uint64_t index = 0;
  protocol::KernelAttributes attributes;
  /// The most dynamic shared memory that the program has set, which a reset of the device keeps.
  std::optional<std::uint32_t> shared_limit;
  struct Parameter {
    std::uint32_t offset = 0, bytes = 0;
  };
  std::vector<Parameter> parameters;
};

/// One __device__ or __constant__ variable.
struct Variable {
  Binary* binary = nullptr;
  std::string name;
  std::uint64_t life = 0;  ///< in which what follows was asked for
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// One __managed__ variable: the program finds its address at `host_pointer`.
struct ManagedVariable {
  Binary* binary = nullptr;
  std::string name;
  void** host_pointer = nullptr;
};

/// What the program's static constructors announced, by the host addresses that stand for it, and
/// the libraries that it loaded. It outlives a reset of the device, after which what is used is
/// loaded again.
class Registry {
 public:
  static Registry& instance();

  Binary* add_binary(const void* wrapper);
  void remove_binary(Binary* binary);
  void add_kernel(Binary* binary, const void* host_function, const char* name);
  void add_variable(Binary* binary, const void* host_variable, const char* name);
  /// @param host_pointer where the program looks for the variable's address
  void add_managed(Binary* binary, void** host_pointer, const char* name);
  /// Loads the binary, so that the host can use its managed variables. @returns a cudaError_t
  int initialise(Binary& binary);

  /// cudaLibraryLoadData: loads a copy of `image` at once. @returns a cudaError_t
  int load_library(std::span<const std::byte> image, Binary** library);
  int unload_library(const Binary* library);
  /// The kernel's handle, the same each time. @returns a cudaError_t
  int library_kernel(const Binary* library, const std::string& name, Kernel** kernel);
  /// A library's variable, a cudaError_t if it has none of that name.
  int library_variable(const Binary* library, const std::string& name, Variable* variable);
  int library_kernel_count(const Binary* library, std::uint32_t* count);
  int library_kernel_name(const Binary* library, std::uint32_t index, std::string* name);

  /// The kernel behind a host function or a cudaKernel_t, or nullptr.
  Kernel* kernel(const void* function);
  /// Loads what is needed. @returns a cudaError_t
  int resolve(Kernel& kernel);
  /// The kernel of a function of the program.
  int resolve(const void* function, Kernel** kernel);
  int resolve(const void* host_variable, Variable** variable);

 private:
  int load(Binary& binary);
  int send(Binary& binary);
  int map_managed(const Binary& binary);
  int locate(Variable& variable);
  /// The library that a handle stands for, on the device, or an error.
  int loaded_library(const Binary* handle, Binary** library);

  std::recursive_mutex mutex_;
  std::vector<std::unique_ptr<Binary>> binaries_;
  std::map<const Binary*, std::unique_ptr<Binary>> libraries_;
  std::map<const void*, std::unique_ptr<Kernel>> kernels_;
  std::map<std::pair<const Binary*, std::string>, std::unique_ptr<Kernel>> library_kernels_;
  std::set<const void*> handles_;
  std::map<const void*, std::unique_ptr<Variable>> variables_;
  std::vector<ManagedVariable> managed_;
};

}  // namespace simgpu::runtime

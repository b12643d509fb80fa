#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "simgpu/report.h"

namespace simgpu {

/// What the simulated GPU refused, as the CUDA runtime calls it, and why in words.
class SimulatedGpuError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct SimulatedGpuOptions {
  /// A file of share/simgpu/gpus ("a100"), or the path of such a file.
  std::string gpu = "a100";
  bool checkers = true;  ///< look for races, accesses out of bounds and the like
  unsigned workers = 0;  ///< CPU threads that run blocks; 0: one for each CPU
  /// Warp instructions after which a launch counts as endless.
  std::uint64_t instruction_budget = 20'000'000'000;
  /// NVIDIA's ptxas, which tells how many registers a kernel takes; empty: they are estimated.
  std::string ptxas = {};
};

/// One argument of a kernel: its bytes, as the kernel's parameter has them.
class KernelArgument {
 public:
  template <typename T>
  requires std::is_trivially_copyable_v<T> KernelArgument(
      const T& value)  // NOLINT(google-explicit-constructor): f({x, n}) is the point
      : bytes_(sizeof value) {
    std::memcpy(bytes_.data(), &value, sizeof value);
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// A simulated GPU within this process: device memory, kernels from PTX, and what they did. This
/// header and report.h are the whole interface of libsimgpu; CUDA programs need none of it, since
/// `simgpu run` runs them as they are.
///
/// Launches and copies happen one after another, and are done when they return. Not thread-safe.
/// What a real GPU would refuse throws SimulatedGpuError. After a fault, such as an access out of
/// bounds, everything is refused but collect(), which says what happened: begin a new GPU.
class SimulatedGpu {
 public:
  /// @throws std::runtime_error for a GPU that is in no file, or a processor without AVX2
  explicit SimulatedGpu(const SimulatedGpuOptions& options = {});
  ~SimulatedGpu();
  SimulatedGpu(SimulatedGpu&&) noexcept;
  SimulatedGpu& operator=(SimulatedGpu&&) noexcept;

  /// Memory that counts as uninitialised until it is written. @returns its address, a multiple of
  /// 256
  std::uint64_t allocate(std::uint64_t bytes);
  void release(std::uint64_t address);
  void write(std::uint64_t address, std::span<const std::byte> bytes);
  void read(std::uint64_t address, std::span<std::byte> bytes);

  /// Memory that holds the values. @returns its address
  template <typename T>
  std::uint64_t upload(const std::vector<T>& values) {
    const std::uint64_t address = allocate(values.size() * sizeof(T));
    write(address, std::as_bytes(std::span(values)));
    return address;
  }
  template <typename T>
  std::vector<T> download(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    read(address, std::as_writable_bytes(std::span(values)));
    return values;
  }

  /// Parses a module of PTX, as `nvcc -ptx` or NVRTC write it, or a fat binary.
  /// @throws SimulatedGpuError naming what cannot be parsed or is not there, with its line
  /// @returns a number for launch()
  std::uint64_t load(std::string_view module);

  /// Runs a kernel.
  /// @param kernel its name, mangled, or without parameters where that is unique: "vector_add"
  /// @param arguments one for each parameter, of the same size
  void launch(std::uint64_t module, const std::string& kernel, Dim3 grid, Dim3 block,
              const std::vector<KernelArgument>& arguments, std::uint32_t dynamic_shared_bytes = 0);

  /// What happened since the last collect(): kernels with counters and modelled times, copies, and
  /// findings.
  Activity collect();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace simgpu

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simgpu/byte_range.h"
#include "simgpu/isa/instruction_info.h"

namespace simgpu {

/// What a launch, its checkers and the time model need to know of a kernel.
struct KernelInfo {
  std::string name;  ///< mangled
  std::vector<std::uint32_t> parameter_offsets;
  std::vector<std::uint32_t> parameter_sizes;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes_per_thread = 0;  ///< .local variables, as PTX declares them
  /// Peak of live 32-bit values, when no machine code says better
  std::uint32_t register_estimate = 0;
  std::array<std::uint32_t, 3> required_threads{};
  std::array<std::uint32_t, 3> max_threads{};
  std::vector<InstructionInfo> instructions;
  std::shared_ptr<const std::vector<std::string>> files;  ///< of the module
  /// A call of a function that was inlined, by the compiler or by lowering.
  struct Call {
    std::uint32_t file = 0, line = 0, column = 0;
    std::string function;      ///< mangled, of what is called
    std::uint32_t parent = 0;  ///< the call of the function that it is in, plus one; 0: none
  };
  std::vector<Call> calls;
  /// "cp.async.bulk.tensor (gemm.cu:41)", empty when it can run
  std::vector<std::string> unsupported;
  /// Its blocks may tell each other something (global atomics, strong or volatile accesses): they
  /// begin one after another, on one worker
  bool orders_blocks = false;
  /// Its blocks may wait for each other: it has a loop in which it looks at what another may change
  bool may_wait_for_blocks = false;
  /// It looks at what other threads may have stored, by strong or volatile loads or atomics that
  /// return a value: what it does may depend on the order of warps and blocks, without a race
  bool sees_order = false;
  /// It may tell the host, which looks at memory meanwhile, that something is there: by a volatile
  /// or ordered store, or a fence or an atomic of the whole system
  bool signals_host = false;
  bool reads_time = false;   ///< %globaltimer: what it does depends on when it is launched
  bool reads_clock = false;  ///< any clock: what it does depends on how long it has run
  /// Shared arrays by offset, for messages: "As" at [0, 4096).
  struct SharedArray {
    std::string name;
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
  };
  std::vector<SharedArray> shared_arrays;
  std::vector<ByteRange> constants;  ///< of the `__constant__` variables that it names
};

}  // namespace simgpu

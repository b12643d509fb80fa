#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/fatbin/fatbin.h"
#include "simgpu/fatbin/spills.h"
#include "simgpu/toolchain/code_cache.h"

/// Machine code of the PTX that is executed, made by the toolkit's own assembler. Nothing here
/// believes machine code that a program brings along.
namespace simgpu::machine_code {

/// Where the assembler is, and where what it made is kept.
struct AssemblerOptions {
  /// The program `ptxas`, behind what it is to be run by; empty: there is none.
  std::vector<std::string> command = {};
  std::string version = {};  ///< what `ptxas --version` prints
  /// Only its owner may be able to change it; empty: nothing is kept.
  std::filesystem::path folder = {};
};

/// The ptxas beside the nvcc that PATH leads to, else that of PATH, CUDA_HOME or /usr/local/cuda;
/// empty when there is none.
std::filesystem::path find_ptxas();
/// What `ptxas --version` prints; empty when it cannot be run.
std::string version_of(const std::filesystem::path& ptxas);

/// What became of one module.
struct Assembled {
  enum class End : std::uint8_t {
    made,
    refused,      ///< no GPU could load the module: `why` is what ptxas says of it
    unavailable,  ///< there is no ptxas, or none that knows this GPU: `why` says which
  };
  End end = End::unavailable;
  std::vector<std::byte> cubin = {};
  /// Of each kernel, by its mangled name; read from the cubin.
  std::map<std::string, fatbin::KernelResources> resources = {};
  /// Of those kernels that have any; empty where the table of lines is not understood.
  std::map<std::string, std::vector<fatbin::Spills>> spills = {};
  std::string why = {};
};

/// The architecture to assemble PTX for: "sm_90" on a GPU of capability 90, "sm_90a" if that is the
/// PTX's own .target.
std::string architecture_of(std::string_view ptx, unsigned capability);

/// A module's PTX as an assembler is to get it: each kernel by itself where ptx::KernelTexts cuts
/// them apart, ptx::one_instruction_a_line(). What does not parse stays as it is, for ptxas to
/// refuse.
std::vector<std::string> as_assembled(std::string_view ptx);

/// Runs ptxas and keeps what it makes, by content: version, options, architecture and PTX decide.
/// May be used by several threads at a time.
class Assembler {
 public:
  explicit Assembler(AssemblerOptions options);

  /// @param ptx one of as_assembled(): spills are told by its lines. Untrusted: ptxas runs within
  ///            bounds, and by the command that was given
  /// @param is_kept whether the folder may know of it: what is there tells the next program, by how
  ///                long it waits, that somebody had the same PTX
  Assembled assemble(std::string_view ptx, const std::string& architecture,
                     bool is_kept = true) const;

 private:
  Assembled make(std::string_view ptx, const std::string& architecture) const;

  AssemblerOptions options_;
  toolchain::CodeCache cache_;
};

/// The PTX that a GPU of this capability would run, of each fat binary in an object file or a
/// library, in order. Bytes that only look like a fat binary are left out.
std::vector<std::string> ptx_within(std::span<const std::byte> object, unsigned capability);

}  // namespace simgpu::machine_code

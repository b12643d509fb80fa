#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

/// The container in which nvcc embeds PTX and machine code.
namespace simgpu::fatbin {

class FatbinError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// It unpacks to more than it may.
class TooLarge : public FatbinError {
 public:
  using FatbinError::FatbinError;
};

/// What ptxas decided for one kernel, read from the machine code beside the PTX.
struct KernelResources {
  unsigned registers_per_thread = 0;
  unsigned static_shared_bytes = 0;
  unsigned local_bytes_per_thread = 0;  ///< stack frame, spills among it
};

struct Image {
  enum class Kind : std::uint8_t { ptx, elf };
  Kind kind = Kind::ptx;
  unsigned architecture = 0;       ///< 80 for sm_80
  std::vector<std::byte> payload;  ///< decompressed; PTX without its trailing NULs
};

/// Reads every image of a fat binary container (starting at its magic 0xBA55ED50): plain, zstd or
/// LZ4. The bytes are untrusted. @throws FatbinError saying what is malformed; TooLarge when over
/// `max_bytes` decompressed.
std::vector<Image> read(std::span<const std::byte> container, std::size_t max_bytes = 256u << 20);

/// The newest PTX that a GPU of this capability (80 for 8.0) can run; nullptr when there is none.
const Image* newest_ptx(const std::vector<Image>& images, unsigned capability);

/// Total bytes of the container that starts at `header`, from its 16-byte header alone.
std::size_t container_size(std::span<const std::byte, 16> header);

/// Resources of each kernel (mangled name) in a cubin.
/// Untrusted bytes; @throws FatbinError when the ELF file is malformed.
std::map<std::string, KernelResources> read_resources(std::span<const std::byte> elf);

}  // namespace simgpu::fatbin

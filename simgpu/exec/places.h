#pragma once

#include <cstdint>
#include <string>

#include "simgpu/checkers/access.h"
#include "simgpu/finding.h"
#include "simgpu/isa/lowered.h"
#include "simgpu/memory/device_memory.h"

/// Accesses and addresses in words, for findings.
namespace simgpu {

/// "1 byte", "4 bytes".
std::string bytes_text(std::uint64_t bytes);

/// A name without the mangling of a function's static variable: _ZZ4gemm…E2As is As.
std::string plain_name(const std::string& name);

/// "writes 4 bytes to shared memory".
std::string describe_access(AccessKind kind, unsigned bytes, const char* space);

/// Where an address lies.
struct Place {
  std::string words;   ///< Finding::object
  std::string name{};  ///< Finding::name
  FindingDetail detail = FindingDetail::none;
  ArrayPlace array{};  ///< the same as numbers, where it is within or behind an array
};

/// "byte 132 of shared array As (4096 bytes)", or where it lies beside one.
Place place_in_shared(const LoweredKernel& kernel, std::uint64_t offset,
                      std::uint32_t shared_bytes);

/// "4 bytes past the end of the 4096-byte allocation (cudaMalloc)".
Place place_in_global(const DeviceMemory& memory, std::uint64_t address, unsigned bytes);

}  // namespace simgpu

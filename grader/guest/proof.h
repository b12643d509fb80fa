#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// The kernel by which a real GPU proves that it can run what this build has for it: the guest runs
/// it, and the grader knows what it has to write.
namespace rooflab {

inline constexpr unsigned kProofThreads = 128;    ///< of a block
inline constexpr unsigned kProofElements = 1024;  ///< of x and of y, 32 bits each
inline constexpr const char* kProofKernel = "rooflab_proof";

/// What the kernel writes to y[i].
constexpr std::uint32_t proof_of(std::uint32_t x, std::uint32_t i) { return x * 2654435761U + i; }

/// The kernel's machine code for several architectures, without PTX.
std::span<const std::byte> proof_image();

}  // namespace rooflab

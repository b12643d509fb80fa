#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "simgpu/exec/engine_testing.h"

/// Kernels of a few instructions for what a Form cannot say: memory, atomics, exchanges between
/// lanes, tiles.
namespace simgpu::opcode_tests {

inline constexpr unsigned kWarpLanes = 32;

/// A kernel `name` with six 64-bit parameters, in %p0 to %p5. The body finds %lane (in the warp),
/// %thread (in the grid), %i8 = 8 * %thread, and registers %h0.. (16 bits), %r0.. (32), %d0.. (64)
/// and %q0.. (predicates); %q0 is bit %lane of %p5: the lanes that are to execute.
std::string bench_kernel(const std::string& name, const std::string& body,
                         const std::string& declarations = "");

/// A module of kernels, with variables of module scope in front.
std::string bench_module(const std::string& kernels, const std::string& variables = "");

/// Loads register `name` ("r3", "d0") with this thread's 8-byte value from the array `from`.
std::string take(const std::string& name, const std::string& from);
/// Stores a register of 32 or 64 bits as this thread's 8-byte value number `number` of `of`.
std::string give(const std::string& name, const std::string& to, unsigned number = 0,
                 unsigned of = 1);
/// A predicate as 0 or 1.
std::string give_predicate(const std::string& name, const std::string& to, unsigned number = 0,
                           unsigned of = 1);

/// Why the engine refuses a kernel; empty when it can run.
std::string refusal_of(const testing::Device& device, const std::string& kernel);
/// The first message of a launch that went wrong, or with findings; empty when all is well.
std::string trouble(const LaunchResult& result);

/// Random 64-bit values; the same ones in every run.
std::vector<std::uint64_t> random_values(std::size_t count, std::uint64_t seed);

}  // namespace simgpu::opcode_tests

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace simgpu {

/// What a kernel's time may be bound by: a term of the time model, or the launch. Whoever has
/// something to say of each of them says it in a `switch` without a default, so that a new one does
/// not compile until all of them know it.
enum class Limiter : std::uint8_t {
  issue,
  fp32,
  fp64,
  fp16,
  integer,
  special,
  tensor,
  shared,
  exchange,
  constant,
  l1,
  l2,
  dram,
  atomics,
  shared_atomics,
  latency,
  launch,
  host_loads,
  host_stores,
  managed_stores,  ///< told, and never a bound
};
inline constexpr Limiter kLastLimiter = Limiter::managed_stores;

/// Its key in reports, "shared_atomics".
std::string name_of(Limiter limiter);
/// That of a key; nothing of any other text.
std::optional<Limiter> limiter_named(std::string_view name);
/// In words: "shared memory" for `shared`.
std::string words_of(Limiter limiter);

/// The limiter of arithmetic of a type of GpuSpec::peak_flops: "fp32", "bf16_tensor".
Limiter arithmetic_limiter(std::string_view type);

/// What keeps more blocks from an SM.
enum class OccupancyLimiter : std::uint8_t { none, warps, registers, shared_memory, blocks };
inline constexpr OccupancyLimiter kLastOccupancyLimiter = OccupancyLimiter::blocks;
/// In words: "shared memory"; empty for none.
std::string words_of(OccupancyLimiter limiter);

/// Microseconds by term of the time model.
using LimiterTimes = std::map<Limiter, double>;
/// The same by key, as reports have it.
std::map<std::string, double> by_name(const LimiterTimes& times);

}  // namespace simgpu

#include "simgpu/limiter.h"

namespace simgpu {

std::string name_of(Limiter limiter) {
  switch (limiter) {
    case Limiter::issue:
      return "issue";
    case Limiter::fp32:
      return "fp32";
    case Limiter::fp64:
      return "fp64";
    case Limiter::fp16:
      return "fp16";
    case Limiter::integer:
      return "integer";
    case Limiter::special:
      return "special";
    case Limiter::tensor:
      return "tensor";
    case Limiter::shared:
      return "shared";
    case Limiter::exchange:
      return "exchange";
    case Limiter::constant:
      return "constant";
    case Limiter::l1:
      return "l1";
    case Limiter::l2:
      return "l2";
    case Limiter::dram:
      return "dram";
    case Limiter::atomics:
      return "atomics";
    case Limiter::shared_atomics:
      return "shared_atomics";
    case Limiter::latency:
      return "latency";
    case Limiter::launch:
      return "launch";
    case Limiter::host_loads:
      return "host_loads";
    case Limiter::host_stores:
      return "host_stores";
    case Limiter::managed_stores:
      return "managed_stores";
  }
  return {};
}

std::string words_of(OccupancyLimiter limiter) {
  switch (limiter) {
    case OccupancyLimiter::none:
      return "";
    case OccupancyLimiter::warps:
      return "warps";
    case OccupancyLimiter::registers:
      return "registers";
    case OccupancyLimiter::shared_memory:
      return "shared memory";
    case OccupancyLimiter::blocks:
      return "blocks";
  }
  return {};
}

std::string words_of(Limiter limiter) {
  switch (limiter) {
    case Limiter::issue:
      return "instruction issue";
    case Limiter::fp32:
    case Limiter::fp64:
    case Limiter::fp16:
    case Limiter::integer:
      return name_of(limiter) + " arithmetic";
    case Limiter::special:
      return "special functions and conversions";
    case Limiter::tensor:
      return "the tensor cores";
    case Limiter::shared:
      return "shared memory";
    case Limiter::exchange:
      return "exchanges between lanes";
    case Limiter::constant:
      return "the constant cache";
    case Limiter::l1:
      return "the L1 cache";
    case Limiter::l2:
      return "L2 traffic";
    case Limiter::dram:
      return "DRAM traffic";
    case Limiter::atomics:
      return "atomics on one address";
    case Limiter::shared_atomics:
      return "atomics in shared memory";
    case Limiter::latency:
      return "latency";
    case Limiter::launch:
      return "launches";
    case Limiter::host_loads:
      return "loads from memory of the host";
    case Limiter::host_stores:
      return "stores to memory of the host";
    case Limiter::managed_stores:
      return "stores to managed memory";
  }
  return {};
}

std::optional<Limiter> limiter_named(std::string_view name) {
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(kLastLimiter); ++i) {
    const auto limiter = static_cast<Limiter>(i);
    if (name_of(limiter) == name) return limiter;
  }
  return std::nullopt;
}

Limiter arithmetic_limiter(std::string_view type) {
  if (type.ends_with("_tensor")) return Limiter::tensor;
  if (type == "fp64") return Limiter::fp64;
  if (type == "fp16" || type == "bf16") return Limiter::fp16;
  return Limiter::fp32;
}

std::map<std::string, double> by_name(const LimiterTimes& times) {
  std::map<std::string, double> named;
  for (const auto& [limiter, us] : times) named[name_of(limiter)] = us;
  return named;
}

}  // namespace simgpu

#include "simgpu/device/launch_choices.h"

#include <algorithm>

namespace simgpu {
namespace {

constexpr std::uint64_t kOfALaunch = 4, kOfAShape = 16;
constexpr std::size_t kMostKernels = 4096;

std::uint64_t different(std::span<const std::byte> one, std::span<const std::byte> other) {
  std::uint64_t count = one.size() - std::min(one.size(), other.size());
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) count += one[i] != other[i];
  return count;
}

}  // namespace

std::uint64_t LaunchChoices::add(const protocol::LaunchMessage& message,
                                 std::span<const std::byte> parameters) {
  if (last_.size() >= kMostKernels) last_.clear();
  Launch& last = last_[{message.module, message.kernel}];
  const bool same_shape = last.grid == message.grid && last.block == message.block &&
                          last.dynamic_shared_bytes == message.dynamic_shared_bytes;
  const std::uint64_t bytes =
      kOfALaunch + (same_shape ? 0 : kOfAShape) + different(parameters, last.parameters);
  last = {.grid = message.grid,
          .block = message.block,
          .dynamic_shared_bytes = message.dynamic_shared_bytes,
          .parameters = {parameters.begin(), parameters.end()}};
  return bytes;
}

}  // namespace simgpu

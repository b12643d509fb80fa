#include "simgpu/device/known_launches.h"

#include <algorithm>
#include <utility>

namespace simgpu {

const LaunchResult* KnownLaunches::find(const Key& key, const DeviceMemory& memory) {
  const auto known = std::ranges::find(launches_, key, &Launch::key);
  if (known == launches_.end()) return nullptr;
  const bool holds = std::ranges::all_of(*known->result.touched, [&](std::uint64_t base) {
    return memory.unchanged_since(base, known->moment);
  });
  if (!holds) {
    launches_.erase(known);
    return nullptr;
  }
  launches_.splice(launches_.begin(), launches_, known);
  return &known->result;
}

void KnownLaunches::remember(Key key, const LaunchResult& result, const DeviceMemory& memory) {
  if (!result.touched || result.executed.size() > kMostInstructions) return;
  launches_.push_front({std::move(key), result, memory.changes()});
  if (launches_.size() > kMost) launches_.pop_back();
}

}  // namespace simgpu

#include "simgpu/runtime/managed_advice.h"

#include <iterator>

namespace simgpu::runtime {

void ManagedAdvice::clear() {
  const std::lock_guard lock(mutex_);
  runs_ = {{0, {}}};
}

ManagedAdvice::Runs::iterator ManagedAdvice::split(std::uint64_t page) {
  const auto after = runs_.upper_bound(page);
  const auto run = std::prev(after);
  return run->first == page ? run : runs_.emplace_hint(after, page, run->second);
}

}  // namespace simgpu::runtime

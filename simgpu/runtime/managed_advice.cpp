#include "simgpu/runtime/managed_advice.h"

#include <iterator>

namespace simgpu::runtime {

ManagedAdvice& ManagedAdvice::instance() {
  // Never destroyed: programs call the runtime from their own static destructors.
  static ManagedAdvice& advice = *new ManagedAdvice;  // NOLINT(cppcoreguidelines-owning-memory)
  return advice;
}

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

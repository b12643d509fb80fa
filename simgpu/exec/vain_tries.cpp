#include "simgpu/exec/vain_tries.h"

#include <algorithm>

namespace simgpu {

bool Poll::repeats(const Lowered* by, std::span<const std::byte> values,
                   std::span<const std::byte> addresses) {
  const bool same = in == by && bytes.size() == values.size() + addresses.size() &&
                    std::equal(values.begin(), values.end(), bytes.begin()) &&
                    std::equal(addresses.begin(), addresses.end(),
                               bytes.begin() + static_cast<std::ptrdiff_t>(values.size()));
  if (same) return true;
  in = by;
  bytes.assign(values.begin(), values.end());
  bytes.insert(bytes.end(), addresses.begin(), addresses.end());
  return false;
}

void VainTries::note(const Lowered* in, std::span<const std::byte> values,
                     std::span<const std::byte> addresses, bool is_atomic,
                     std::uint64_t effects_now) {
  if (effects != effects_now || polls.size() > kMostPolls) {
    polls.clear();
    times = atomics = 0;
    effects = effects_now;
  }
  const auto known = std::ranges::find(polls, in, &Poll::in);
  if (known == polls.end()) {
    polls.emplace_back().repeats(in, values, addresses);
  } else if (known->repeats(in, values, addresses)) {
    ++times;
    if (is_atomic) ++atomics;
  } else {
    times = atomics = 0;
  }
}

}  // namespace simgpu

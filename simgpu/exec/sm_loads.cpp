#include "simgpu/exec/sm_loads.h"

#include <algorithm>

namespace simgpu {
namespace {

using Weight = BlockWeights::Weight;
/// Cycles between a block's end and the first instructions of the one in its place, as in the time
/// model: even blocks that have nothing to do are dealt out in turn.
constexpr std::uint64_t kTurnover = 430;

}  // namespace

SmLoads::SmLoads(int sms, std::uint64_t resident_blocks)
    : sms_(static_cast<std::size_t>(std::max(sms, 1))),
      count_of_places_(std::max<std::uint64_t>(resident_blocks / sms_.size(), 1) * sms_.size()) {}

SmLoads::Place SmLoads::take_place() {
  if (next_unused_ < count_of_places_) return {0, next_unused_++};
  const Place first = places_.top();
  places_.pop();
  return first;
}

void SmLoads::add(const Weight& block) {
  const auto [time, place] = take_place();
  places_.emplace(time + block.longest_way + kTurnover, place);
  sms_[place % sms_.size()].add_loads(block);
}

Weight SmLoads::busiest() const {
  Weight most;
  for (const Weight& sm : sms_) most.raise_loads(sm);
  return most;
}

}  // namespace simgpu

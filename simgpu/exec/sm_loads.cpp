#include "simgpu/exec/sm_loads.h"

#include <algorithm>

namespace simgpu {
namespace {

using Weight = BlockWeights::Weight;
/// What an SM does of each, whichever of its warps does it.
constexpr std::uint64_t Weight::*kLoads[] = {&Weight::instructions, &Weight::sectors,
                                             &Weight::wavefronts};

/// Cycles between a block's end and the first instructions of the one in its place, as in the time
/// model: even blocks that have nothing to do are dealt out in turn.
constexpr std::uint64_t kTurnover = 430;

}  // namespace

SmLoads::SmLoads(int sms, std::uint64_t resident_blocks)
    : sms_(static_cast<std::size_t>(std::max(sms, 1))) {
  const std::uint64_t places = std::max<std::uint64_t>(resident_blocks / sms_.size(), 1);
  for (std::uint64_t place = 0; place < places * sms_.size(); ++place) places_.emplace(0, place);
}

void SmLoads::add(const Weight& block) {
  const auto [time, place] = places_.top();
  places_.pop();
  places_.emplace(time + block.longest_way + kTurnover, place);
  Weight& sm = sms_[place % sms_.size()];
  for (const auto load : kLoads) sm.*load += block.*load;
}

Weight SmLoads::busiest() const {
  Weight most;
  for (const Weight& sm : sms_) {
    for (const auto load : kLoads) most.*load = std::max(most.*load, sm.*load);
  }
  return most;
}

}  // namespace simgpu

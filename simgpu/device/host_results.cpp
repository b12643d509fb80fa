#include "simgpu/device/host_results.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "simgpu/exec/kept_stores.h"
#include "simgpu/memory/pages.h"

namespace simgpu {
namespace {

/// Each takes room, and every wait of the host looks at all.
constexpr std::size_t kMostWork = 256;

bool holds(const std::vector<ByteRange>& ranges, std::uint64_t address) {
  const auto behind = std::ranges::upper_bound(ranges, address, {}, &ByteRange::address);
  return behind != ranges.begin() &&
         address - std::prev(behind)->address < std::prev(behind)->bytes;
}

}  // namespace

void HostResults::add(Work work) {
  if (work.stored.empty()) return;
  outstanding_.push_back(std::move(work));
  if (outstanding_.size() <= kMostWork) return;
  outstanding_.pop_front();
  if (given_ > 0) --given_;
}

std::vector<ByteRange> HostResults::take_new() {
  constexpr std::size_t kMostRanges = 1024;  // into one reply
  std::vector<ByteRange> pages;
  for (; given_ < outstanding_.size(); ++given_) {
    for (const ByteRange& range : outstanding_[given_].stored) {
      const std::uint64_t begin = range.address / page_bytes() * page_bytes();
      const std::uint64_t end = round_up(range.address + range.bytes, page_bytes());
      pages.push_back({begin, end - begin});
    }
  }
  merge_ranges(pages);
  if (pages.size() > kMostRanges) pages.resize(kMostRanges);
  return pages;
}

const HostResults::Work* HostResults::find(std::uint64_t address, const StreamOrder& order) const {
  for (const Work& work : outstanding_ | std::views::reverse) {
    if (holds(work.stored, address) && !order.is_done(work.stamp)) return &work;
  }
  return nullptr;
}

void HostResults::drop_done(const StreamOrder& order) {
  std::erase_if(outstanding_, [&](const Work& work) { return order.is_done(work.stamp); });
  given_ = 0;
}

}  // namespace simgpu

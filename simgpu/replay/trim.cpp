#include "simgpu/replay/trim.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "simgpu/replay/fold.h"

namespace simgpu::replay {
namespace {

/// Numbers of steps, the first ones first.
using Steps = std::vector<std::size_t>;

Steps of_warp(const Recording& recording, std::uint32_t warp, std::size_t last) {
  Steps steps;
  for (std::size_t i = 0; i <= last; ++i) {
    if (recording.steps[i].warp == warp) steps.push_back(i);
  }
  return steps;
}

void keep_last(Steps& steps, std::size_t most) {
  if (steps.size() > most) steps.erase(steps.begin(), steps.end() - static_cast<long>(most));
}

/// Without what a warp did before the last barrier that both have passed, which it keeps.
void begin_at_barrier(const Recording& recording, std::uint32_t interval, Steps& steps) {
  const auto begin = std::ranges::find_if(steps, [&](std::size_t i) {
    const Step& step = recording.steps[i];
    return step.interval >= interval || (step.interval + 1 == interval && step.is_barrier);
  });
  steps.erase(steps.begin(), begin);
}

/// Half of the room for each; what one does not need, the other one may take.
void share_room(Steps& a, Steps& b, std::size_t most) {
  const std::size_t for_a = std::max(most / 2, most - std::min(most, b.size()));
  keep_last(a, for_a);
  keep_last(b, most - std::min(most, a.size()));
}

/// Two accesses of different warps.
Steps sides(const Recording& recording, const Mark& first, const Mark& second, std::size_t most) {
  const Step& one = recording.steps[first.step];
  const Step& two = recording.steps[second.step];
  Steps a = of_warp(recording, one.warp, first.step);
  Steps b = of_warp(recording, two.warp, second.step);
  const bool same_block = recording.warps.at(one.warp).block == recording.warps.at(two.warp).block;
  if (same_block) {
    const std::uint32_t interval = std::min(one.interval, two.interval);
    begin_at_barrier(recording, interval, a);
    begin_at_barrier(recording, interval, b);
  }
  share_room(a, b, most);
  a.insert(a.end(), b.begin(), b.end());
  std::ranges::sort(a);
  return a;
}

/// Two accesses of one warp: what led to the first one, and what is between it and the second one.
Steps between(const Recording& recording, const Mark& first, const Mark& second, std::size_t most) {
  const std::uint32_t warp = recording.steps[first.step].warp;
  Steps before = of_warp(recording, warp, first.step);
  Steps behind = of_warp(recording, warp, second.step);
  std::erase_if(behind, [&](std::size_t i) { return i <= first.step; });
  const std::uint32_t interval = recording.steps[first.step].interval;
  begin_at_barrier(recording, interval, before);
  share_room(before, behind, most);
  before.insert(before.end(), behind.begin(), behind.end());
  return before;
}

Steps chosen(const Recording& recording, std::size_t most) {
  const std::vector<Mark>& marks = recording.marks;
  if (marks.empty()) {
    Steps all(std::min(most, recording.steps.size()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }
  if (marks.size() == 1) {
    Steps last = of_warp(recording, recording.steps[marks[0].step].warp, marks[0].step);
    keep_last(last, most);
    return last;
  }
  const bool in_order = marks[0].step <= marks[1].step;
  const Mark& first = in_order ? marks[0] : marks[1];
  const Mark& second = in_order ? marks[1] : marks[0];
  if (recording.steps[first.step].warp != recording.steps[second.step].warp) {
    return sides(recording, first, second, most);
  }
  return between(recording, first, second, most);
}

/// Goes through all steps, and hands on what those that are left out have written.
class Folder {
 public:
  explicit Folder(Recording& recording)
      : recording_(recording),
        values_(recording.warps.size()),
        left_out_(recording.warps.size()),
        stores_(recording.blocks.size()),
        has_begun_(recording.warps.size()),
        block_has_begun_(recording.blocks.size()) {}

  void leave_out(const Step& step) {
    add_step(values_[step.warp], step);
    add_left_out(left_out_[step.warp], step);
    std::vector<SharedBytes>& stores = stores_[block_of(step)];
    add_stores(stores, step.others);
    add_stores(stores, step.shared);
  }

  Step keep(Step step) {
    hand_on(step);
    return step;
  }

 private:
  std::size_t block_of(const Step& step) const { return recording_.warps.at(step.warp).block; }

  void hand_on(Step& step) {
    std::vector<RegisterValues> values = std::exchange(values_[step.warp], {});
    std::vector<LeftOut> left_out = std::exchange(left_out_[step.warp], {});
    std::vector<SharedBytes> stores = std::exchange(stores_[block_of(step)], {});
    if (std::exchange(has_begun_[step.warp], 1) == 0) {
      auto& start = recording_.warps[step.warp].registers;
      add_values(start, values);
      add_values(start, std::exchange(step.before, {}));
      add_left_out(left_out, std::exchange(step.left_out, {}));
      add_left_out(recording_.warps[step.warp].left_out, left_out);
    } else {
      add_values(values, step.before);
      add_left_out(left_out, step.left_out);
      step.before = std::move(values);
      step.left_out = std::move(left_out);
    }
    add_stores(stores, step.others);
    if (std::exchange(block_has_begun_[block_of(step)], 1) == 0) {
      add_stores(recording_.blocks[block_of(step)].shared, stores);
      step.others.clear();
    } else {
      step.others = std::move(stores);
    }
  }

  Recording& recording_;
  std::vector<std::vector<RegisterValues>> values_;  ///< by warp
  std::vector<std::vector<LeftOut>> left_out_;       ///< by warp
  std::vector<std::vector<SharedBytes>> stores_;     ///< by block
  std::vector<char> has_begun_, block_has_begun_;    ///< by warp, by block
};

}  // namespace

Recording trimmed(Recording recording, std::size_t most_steps) {
  const Steps kept = chosen(recording, most_steps);
  std::vector<Step> all = std::exchange(recording.steps, {});
  const bool is_cut_behind = kept.empty() || kept.back() + 1 < all.size();
  Folder folder(recording);
  std::map<std::uint32_t, std::uint32_t> numbers;
  auto next = kept.begin();
  std::vector<bool> begun(recording.warps.size());
  for (std::size_t i = 0; i < all.size() && next != kept.end(); ++i) {
    if (*next != i) {
      if (!begun[all[i].warp]) recording.begins_late = true;
      folder.leave_out(all[i]);
      continue;
    }
    ++next;
    begun[all[i].warp] = true;
    numbers[static_cast<std::uint32_t>(i)] = static_cast<std::uint32_t>(recording.steps.size());
    recording.steps.push_back(folder.keep(std::move(all[i])));
  }
  recording.ends_early = recording.ends_early || is_cut_behind;
  std::erase_if(recording.marks, [&](const Mark& mark) { return !numbers.contains(mark.step); });
  for (Mark& mark : recording.marks) mark.step = numbers.at(mark.step);
  return recording;
}

}  // namespace simgpu::replay

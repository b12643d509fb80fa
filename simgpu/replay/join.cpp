#include "simgpu/replay/join.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace simgpu::replay {
namespace {

/// How far the numbers of a recording's parts move when they come behind another one's.
struct Offsets {
  std::uint32_t places, names, allocations, launches, blocks, warps, steps;

  explicit Offsets(const Recording& before)
      : places(size_of(before.places)),
        names(size_of(before.names)),
        allocations(size_of(before.allocations)),
        launches(before.launches()),
        blocks(size_of(before.blocks)),
        warps(size_of(before.warps)),
        steps(size_of(before.steps)) {}

  static void move(std::uint32_t& number, std::uint32_t by) {
    if (number != kNone) number += by;
  }
  void move(std::vector<RegisterValues>& all) const {
    for (RegisterValues& one : all) {
      move(one.name, names);
      move(one.place, places);
    }
  }
  void move(std::vector<LeftOut>& all) const {
    for (LeftOut& one : all) move(one.place, places);
  }
  void move(std::vector<SharedBytes>& all) const {
    for (SharedBytes& one : all) move(one.place, places);
  }
  void move(Step& step) const {
    step.warp += warps;
    move(step.place, places);
    move(step.before);
    move(step.left_out);
    move(step.others);
    move(step.registers);
    move(step.shared);
    for (Access& access : step.accesses) move(access.allocation, allocations);
    for (std::uint32_t& name : step.unknown_now) move(name, names);
  }

 private:
  template <typename T>
  static std::uint32_t size_of(const std::vector<T>& items) {
    return static_cast<std::uint32_t>(items.size());
  }
};

template <typename T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

/// The number of a file that both may have.
std::uint32_t file_number(std::vector<std::string>& files, const std::string& name) {
  const auto known = std::ranges::find(files, name);
  if (known != files.end()) return static_cast<std::uint32_t>(known - files.begin());
  files.push_back(name);
  return static_cast<std::uint32_t>(files.size() - 1);
}

}  // namespace

Recording joined(Recording earlier, Recording later) {
  const Offsets offsets(earlier);
  for (Place& place : later.places) {
    place.file = file_number(earlier.files, later.files.at(place.file));
  }
  for (RecordedBlock& block : later.blocks) {
    block.launch += offsets.launches;
    offsets.move(block.shared);
  }
  for (RecordedWarp& warp : later.warps) {
    warp.block += offsets.blocks;
    offsets.move(warp.registers);
    offsets.move(warp.left_out);
  }
  for (Step& step : later.steps) offsets.move(step);
  for (Mark& mark : later.marks) mark.step += offsets.steps;

  earlier.more.push_back(std::move(later.launch(0)));
  append(earlier.more, later.more);
  append(earlier.allocations, later.allocations);
  append(earlier.places, later.places);
  append(earlier.names, later.names);
  append(earlier.blocks, later.blocks);
  append(earlier.warps, later.warps);
  append(earlier.steps, later.steps);
  append(earlier.marks, later.marks);
  earlier.begins_late = earlier.begins_late || later.begins_late;
  earlier.ends_early = earlier.ends_early || later.ends_early;
  return earlier;
}

}  // namespace simgpu::replay

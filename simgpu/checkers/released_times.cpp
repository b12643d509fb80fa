#include "simgpu/checkers/released_times.h"

#include <algorithm>
#include <utility>

namespace simgpu {

void ReleasedTimes::merge(std::vector<Time>& times, const std::vector<Time>& others) {
  if (times.size() < others.size()) times.resize(others.size(), 0);
  for (std::size_t i = 0; i < others.size(); ++i) times[i] = std::max(times[i], others[i]);
}

void ReleasedTimes::clear() {
  if (!recent_.empty()) recent_.clear();
  if (!older_.empty()) older_.clear();
}

const ReleasedTimes::Times* ReleasedTimes::find(std::uint64_t place) const {
  for (const ByPlace* places : {&recent_, &older_}) {
    if (const auto found = places->find(place); found != places->end()) return &found->second;
  }
  return nullptr;
}

void ReleasedTimes::add_to(std::vector<Time>& times, std::uint64_t place) const {
  if (const Times* const found = find(place)) merge(times, **found);
}

void ReleasedTimes::set(std::uint64_t place, const Times& times) {
  if (!older_.empty()) older_.erase(place);
  if (times == nullptr) {
    recent_.erase(place);
    return;
  }
  if (recent_.size() >= kMostPlaces / 2 && !recent_.contains(place)) {
    older_ = std::exchange(recent_, {});
  }
  recent_.insert_or_assign(place, times);
}

void ReleasedTimes::merge(std::uint64_t place, const Times& times) {
  const Times* const before = find(place);
  if (before == nullptr || *before == times) return set(place, times);
  std::vector<Time> both = **before;
  merge(both, *times);
  set(place, both == *times ? times : std::make_shared<const std::vector<Time>>(std::move(both)));
}

}  // namespace simgpu

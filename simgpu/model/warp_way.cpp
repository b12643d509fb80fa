#include "simgpu/model/warp_way.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace simgpu::model {
namespace {

/// What is executed so nearly once is executed once.
constexpr double kRounding = 1e-3;

class Builder {
 public:
  Builder(const Work& work, std::uint32_t most_turns) : work_(work), most_turns_(most_turns) {}

  WarpWay run(const std::vector<Step>& steps) {
    for (const Step& step : steps) add(step, LoopOfWay::kNone);
    return std::move(way_);
  }

 private:
  void add(const Step& step, std::uint32_t outer) {
    if (step.times < 1 - kRounding) {
      maybe(step.times, has_barrier(step), [&] { body(step, outer); });
    } else if (step.times <= 1 + kRounding) {
      body(step, outer);
    } else {
      loop(step, outer);
    }
  }

  void body(const Step& step, std::uint32_t loop) {
    if (step.body.empty()) code(step.code);
    for (const Step& inner : step.body) add(inner, loop);
  }

  template <class Inner>
  void maybe(double probability, bool is_common, const Inner& inner) {
    const std::size_t at = way_.places.size();
    way_.places.push_back(
        {.kind = Place::Kind::maybe, .probability = probability, .is_common = is_common});
    const double before = std::exchange(entered_, entered_ * probability);
    const double walked_before = std::exchange(walked_, walked_ * probability);
    inner();
    entered_ = before;
    walked_ = walked_before;
    way_.places[at].behind = next();
  }

  void loop(const Step& step, std::uint32_t outer) {
    const auto number = static_cast<std::uint32_t>(way_.loops.size());
    constexpr double kMost = 1e9;
    const auto whole = static_cast<std::uint32_t>(std::lround(std::min(step.times, kMost)));
    const std::uint32_t turns = std::clamp<std::uint32_t>(whole, 1, most_turns_);
    way_.loops.push_back(
        {.times = step.times, .turns = turns, .outer = outer, .entries = entered_});
    way_.places.push_back({.kind = Place::Kind::loop, .loop = number});
    const std::uint32_t begin = next();
    const double before = std::exchange(entered_, 1);
    const double walked_before = std::exchange(walked_, walked_ * turns);
    body(step, number);
    entered_ = before;
    walked_ = walked_before;
    way_.places.push_back({.kind = Place::Kind::turn, .behind = begin, .loop = number});
  }

  void code(const std::vector<Stretch>& stretches) {
    for (const Stretch& stretch : stretches) {
      if (stretch.first == stretch.last) continue;
      if (stretch.probability < 1 - kRounding) {
        maybe(stretch.probability, has_barrier(stretch), [&] { place(stretch); });
      } else {
        place(stretch);
      }
    }
  }

  void place(const Stretch& stretch) {
    way_.places.push_back({.kind = Place::Kind::code,
                           .first = static_cast<std::uint32_t>(stretch.first),
                           .last = static_cast<std::uint32_t>(stretch.last)});
    way_.instructions += walked_ * static_cast<double>(stretch.last - stretch.first);
  }

  bool has_barrier(const Stretch& stretch) const {
    const auto begin = work_.program.begin();
    return std::any_of(
        begin + static_cast<std::ptrdiff_t>(stretch.first),
        begin + static_cast<std::ptrdiff_t>(stretch.last),
        [](const InstructionInfo& info) { return info.cls == InstructionClass::barrier; });
  }
  bool has_barrier(const Step& step) const {
    return std::ranges::any_of(step.code, [&](const Stretch& one) { return has_barrier(one); }) ||
           std::ranges::any_of(step.body, [&](const Step& one) { return has_barrier(one); });
  }

  std::uint32_t next() const { return static_cast<std::uint32_t>(way_.places.size()); }

  const Work& work_;
  const std::uint32_t most_turns_;
  WarpWay way_;
  double entered_ = 1;  ///< how often what follows is entered in a turn of the loop around it
  double walked_ = 1;   ///< and in all that is walked
};

}  // namespace

WarpWay warp_way(const Work& work, const std::vector<Step>& steps, std::uint32_t most_turns) {
  return Builder(work, most_turns).run(steps);
}

}  // namespace simgpu::model

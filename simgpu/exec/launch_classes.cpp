#include "simgpu/exec/launch_classes.h"

#include <algorithm>

namespace simgpu {
namespace {

using Axis = LaunchClasses::Axis;

/// Places whose work is compared to see how it grows.
constexpr std::uint64_t kFewPlaces = 8;
/// A ragged last place has somewhat less to do than growth tells.
constexpr double kSomewhatLess = 0.8;

class ClassFinder {
 public:
  ClassFinder(const Dim3& grid, BlockSampler& sampler) : sampler_(sampler) {
    std::uint64_t stride = 1;
    for (const std::uint64_t size : {grid.x, grid.y, grid.z}) {
      if (size > 1) axes_.push_back({stride, size});
      stride *= size;
    }
  }

  LaunchClasses find() {
    for (const Axis& axis : axes_) {
      if (!is_alike(axis)) {
        if (classes_.places.size > 1) throw NotSampled{};
        classes_.places = axis;
      } else {
        classes_.alike.push_back(axis);
      }
    }
    if (classes_.places.size < 2) throw NotSampled{};
    classes_.reversed = work(classes_.places.size - 1) < work(0);
    unfold_inner();
    unfold_outer();
    return classes_;
  }

 private:
  bool is_alike(const Axis& axis) {
    const BlockProfile& first = sampler_.profile(0);
    return same_instructions(first, sampler_.profile(axis.stride)) &&
           same_instructions(first, sampler_.profile((axis.size - 1) * axis.stride));
  }

  const BlockProfile& at(std::uint64_t order) { return sampler_.profile(classes_.block_at(order)); }
  bool same(std::uint64_t a, std::uint64_t b) { return same_instructions(at(a), at(b)); }
  double work(std::uint64_t order) { return static_cast<double>(at(order).slots); }

  /// Where an index is head + heads * place, work changes only after every `heads` blocks.
  void unfold_inner() {
    const Axis whole = classes_.places;
    if (!same(0, 1)) return;
    std::uint64_t alike = 1, different = 2;
    while (different < whole.size && same(0, different)) {
      alike = different;
      different *= 2;
    }
    if (different >= whole.size) return;
    while (different - alike > 1) {
      const std::uint64_t middle = alike + (different - alike) / 2;
      (same(0, middle) ? alike : different) = middle;
    }
    if (whole.size % different != 0 || whole.size == different) return;
    classes_.alike.push_back({whole.stride, different});
    classes_.places = {whole.stride * different, whole.size / different};
  }

  /// Where an index is place + places * head, work starts again after every `places` blocks.
  void unfold_outer() {
    const Axis whole = classes_.places;
    if (whole.size < 4) return;
    const std::uint64_t few = std::min(kFewPlaces, whole.size / 4);
    const double growth = (work(few) - work(0)) / static_cast<double>(few);
    // The places that there must be at least, for the heaviest block to be as heavy as it is, if a
    // few places tell the growth. With a sliding window there are more.
    const double least = growth > 0 ? (work(whole.size - 1) - work(0)) / growth : 0;
    for (std::uint64_t places = 2; places <= whole.size / 2; ++places) {
      if (whole.size % places != 0 || static_cast<double>(places) < kSomewhatLess * least) continue;
      if (!same(0, places) || !same(1, places + 1)) continue;
      classes_.alike.push_back({whole.stride * places, whole.size / places});
      classes_.places = {whole.stride, places};
      return;
    }
  }

  BlockSampler& sampler_;
  std::vector<Axis> axes_;
  LaunchClasses classes_;
};

}  // namespace

LaunchClasses find_classes(const Dim3& grid, BlockSampler& sampler) {
  return ClassFinder(grid, sampler).find();
}

}  // namespace simgpu

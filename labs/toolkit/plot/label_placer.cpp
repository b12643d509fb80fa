#include "labs/toolkit/plot/label_placer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace rooflab::plot {
namespace {

constexpr double kGap = 4;        // between a marker and its label
constexpr double kClearance = 1;  // around a label
// Right and left read best; above and below next; then the corners.
constexpr std::array<Place, 8> kBeside{
    {{1, 0}, {-1, 0}, {0, -1}, {0, 1}, {1, -1}, {1, 1}, {-1, -1}, {-1, 1}}};

/// The box that touches a circle of this radius around the marker, in this direction.
Box beside(Place marker, Place direction, double radius, double width, double height) {
  return {marker.x + direction.x * (radius + width / 2) - width / 2,
          marker.y + direction.y * (radius + height / 2) - height / 2, width, height};
}

double distance(Place place, const Box& box) {
  const Place nearest = box.nearest(place);
  return std::hypot(nearest.x - place.x, nearest.y - place.y);
}

}  // namespace

void LabelPlacer::keep_marker_free(Place marker, double radius) {
  keep_free(Box{marker.x, marker.y, 0, 0}.grown(radius));
  markers_.push_back(marker);
}

bool LabelPlacer::is_free(const Outline& outline) const {
  return outline.inside(bounds_) &&
         std::none_of(taken_.begin(), taken_.end(),
                      [&](const Outline& other) { return other.overlaps(outline); });
}

bool LabelPlacer::take(const Box& box) {
  if (!is_free(box.grown(kClearance))) return false;
  keep_free(box.grown(kClearance));
  return true;
}

bool LabelPlacer::belongs_to(Place marker, const Box& box) const {
  constexpr double kTie = 1;
  const double own = distance(marker, box);
  return std::none_of(markers_.begin(), markers_.end(),
                      [&](Place other) { return distance(other, box) < own - kTie; });
}

std::optional<LabelPlacer::Placed> LabelPlacer::place(Place marker, double radius, double width,
                                                      double height, double reach) {
  for (const Place& direction : kBeside) {
    const Box box = beside(marker, direction, radius + kGap, width, height);
    if (belongs_to(marker, box) && take(box)) return Placed{box, false};
  }
  constexpr double kStep = 8;
  constexpr int kDirections = 24;
  for (double distance = radius + kGap + kStep; distance <= reach; distance += kStep) {
    for (int k = 0; k < kDirections; ++k) {
      const double angle = 2 * std::numbers::pi * k / kDirections;
      const Box box = beside(marker, {std::cos(angle), std::sin(angle)}, distance, width, height);
      if (!take(box)) continue;
      keep_free(Outline::line(marker, box.nearest(marker)));
      return Placed{box, true};
    }
  }
  return std::nullopt;
}

}  // namespace rooflab::plot

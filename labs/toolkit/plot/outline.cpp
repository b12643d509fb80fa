#include "labs/toolkit/plot/outline.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rooflab::plot {
namespace {

std::array<Place, 4> corners_of(const Box& box) {
  return {Place{box.x, box.y}, Place{box.x + box.width, box.y},
          Place{box.x + box.width, box.y + box.height}, Place{box.x, box.y + box.height}};
}

struct Span {
  double least, most;
};

Span span_along(const std::array<Place, 4>& corners, Place direction) {
  Span span{INFINITY, -INFINITY};
  for (const Place& corner : corners) {
    const double along = corner.x * direction.x + corner.y * direction.y;
    span = {std::min(span.least, along), std::max(span.most, along)};
  }
  return span;
}

}  // namespace

Place Box::nearest(Place from) const {
  return {std::clamp(from.x, x, x + width), std::clamp(from.y, y, y + height)};
}

bool Box::contains(const Box& other) const {
  return other.x >= x && other.y >= y && other.x + other.width <= x + width &&
         other.y + other.height <= y + height;
}

Outline::Outline(const std::array<Place, 4>& corners)
    : corners_(corners), least_(corners[0]), most_(corners[0]) {
  for (const Place& corner : corners) {
    least_ = {std::min(least_.x, corner.x), std::min(least_.y, corner.y)};
    most_ = {std::max(most_.x, corner.x), std::max(most_.y, corner.y)};
  }
}

Outline::Outline(const Box& box) : Outline(corners_of(box)) {}

Outline Outline::turned(const Box& box, double degrees) {
  const double radians = degrees * std::numbers::pi / 180;
  const double cosine = std::cos(radians), sine = std::sin(radians);
  const Place center = box.center();
  std::array<Place, 4> corners = corners_of(box);
  for (Place& corner : corners) {
    const double dx = corner.x - center.x, dy = corner.y - center.y;
    corner = {center.x + dx * cosine + dy * sine, center.y - dx * sine + dy * cosine};
  }
  return Outline(corners);
}

Outline Outline::line(Place from, Place to) { return Outline({from, to, to, from}); }

/// Two convex shapes are apart exactly when a line along one of their edges lies between them.
bool Outline::overlaps(const Outline& other) const {
  if (most_.x < other.least_.x || other.most_.x < least_.x || most_.y < other.least_.y ||
      other.most_.y < least_.y) {
    return false;
  }
  return !separated_by_an_edge_from(other) && !other.separated_by_an_edge_from(*this);
}

bool Outline::separated_by_an_edge_from(const Outline& other) const {
  for (std::size_t i = 0; i < corners_.size(); ++i) {
    const Place& from = corners_[i];
    const Place& to = corners_[(i + 1) % corners_.size()];
    const Place normal{to.y - from.y, from.x - to.x};
    if (normal.x == 0 && normal.y == 0) continue;
    const Span mine = span_along(corners_, normal), theirs = span_along(other.corners_, normal);
    if (mine.most <= theirs.least || theirs.most <= mine.least) {
      // A line has no width: it is cut by what lies on both of its sides.
      const bool line_is_cut =
          mine.least == mine.most && theirs.least < mine.least && mine.least < theirs.most;
      if (!line_is_cut) return true;
    }
  }
  return false;
}

bool Outline::inside(const Box& bounds) const {
  return bounds.contains({least_.x, least_.y, most_.x - least_.x, most_.y - least_.y});
}

}  // namespace rooflab::plot

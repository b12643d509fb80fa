#pragma once

#include <array>

namespace rooflab::plot {

/// A place on the canvas in pixels, y downwards.
struct Place {
  double x = 0, y = 0;
};

/// An upright rectangle, by its upper left corner.
struct Box {
  double x = 0, y = 0, width = 0, height = 0;

  Place center() const { return {x + width / 2, y + height / 2}; }
  Box grown(double by) const { return {x - by, y - by, width + 2 * by, height + 2 * by}; }
  /// The place of the box that is nearest to `from`.
  Place nearest(Place from) const;
  bool contains(const Box& other) const;
};

/// A convex shape of four corners: a box, a turned box, or a line as a box without width.
class Outline {
 public:
  Outline(const Box& box);  // NOLINT(google-explicit-constructor): every box is an outline
  /// A box turned about its center, counterclockwise as one sees it.
  static Outline turned(const Box& box, double degrees);
  static Outline line(Place from, Place to);

  bool overlaps(const Outline& other) const;
  bool inside(const Box& bounds) const;

 private:
  explicit Outline(const std::array<Place, 4>& corners);
  bool separated_by_an_edge_from(const Outline& other) const;

  std::array<Place, 4> corners_;
  Place least_, most_;  // of the corners: most shapes are far apart, and these say so quickly
};

}  // namespace rooflab::plot

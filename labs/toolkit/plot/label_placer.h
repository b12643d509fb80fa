#pragma once

#include <optional>
#include <vector>

#include "labs/toolkit/plot/outline.h"

namespace rooflab::plot {

/// Finds places for labels, one after the other: never over what is already there, never outside.
class LabelPlacer {
 public:
  explicit LabelPlacer(const Box& bounds) : bounds_(bounds) {}

  /// Keeps labels off a line or a bar.
  void keep_free(const Outline& outline) { taken_.push_back(outline); }
  /// Keeps labels off another label, and their leader lines too, which may cross lines alone.
  void keep_label_free(const Outline& label);
  /// A marker also keeps labels of others so far away that nobody takes them for its own.
  void keep_marker_free(Place marker, double radius);
  bool is_free(const Outline& outline) const;

  struct Placed {
    Box box;
    bool away = false;  ///< so far from the marker that a leader line must join them
  };
  /// The first free place of a label beside a marker of this radius, and then around it in growing
  /// circles; it is kept free from then on, as is its leader line. Nothing when there is no room
  /// within `reach` pixels.
  std::optional<Placed> place(Place marker, double radius, double width, double height,
                              double reach);

 private:
  bool belongs_to(Place marker, const Box& box) const;
  bool leads_to(Place marker, double radius, const Box& box, bool over_markers) const;
  std::optional<Placed> place_away(Place marker, double radius, double width, double height,
                                   double reach, bool over_markers);

  Box bounds_;
  std::vector<Outline> taken_;
  std::vector<Outline> labels_;
  std::vector<Place> markers_;
};

}  // namespace rooflab::plot

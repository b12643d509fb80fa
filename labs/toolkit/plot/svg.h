#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "labs/toolkit/plot/outline.h"

namespace rooflab::plot {

inline constexpr double kCanvasWidth = 800;
inline constexpr double kTextHeight = 15;  ///< of a line of labels
inline constexpr double kTextDescent = 4;  ///< of it below the baseline

/// Upper bound in pixels of a text at the label size (12 px) in a wide sans-serif face.
double text_width(std::string_view text);
/// The text, or its beginning with an ellipsis: at most `most` pixels wide.
std::string shortened(const std::string& text, double most);

enum class Anchor { start, middle, end };

/// Forms that can be told apart without colour.
enum class Marker { circle, square, diamond, triangle, bar, cross };
inline constexpr double kMarkerRadius = 6;

/// Builds one SVG document. All texts are escaped; classes are those of the style sheet in svg.cpp.
class Svg {
 public:
  /// `title` and `description` are for readers who do not see the picture.
  Svg(double height, std::string_view title, std::string_view description);

  void line(std::string_view css_class, Place from, Place to);
  void polyline(std::string_view css_class, const std::vector<Place>& places);
  void box(std::string_view css_class, const Box& box, std::string_view tooltip = {});
  /// `place` is on the baseline; turned counterclockwise about it.
  void text(std::string_view css_class, Place place, std::string_view words,
            Anchor anchor = Anchor::start, double degrees = 0);
  /// The words in a box of a label.
  void label(std::string_view css_class, const Box& box, std::string_view words);
  void marker(std::string_view css_class, Marker marker, Place place,
              std::string_view tooltip = {});
  /// A small arrow whose tip is at `tip` and points in this direction.
  void arrow(Place tip, Place direction);

  /// Adds a row at the bottom.
  void add_height(double pixels) { height_ += pixels; }
  /// The whole document.
  std::string finish() &&;

 private:
  void circle(std::string_view css_class, Place center, std::string_view tooltip);
  void path(std::string_view css_class, const std::string& data, std::string_view tooltip);

  double height_;
  std::string title_, description_, text_;
};

}  // namespace rooflab::plot

#pragma once

#include <vector>

namespace rooflab::plot {

/// A logarithmic axis: the values low … high lie along the pixels from … to.
class LogAxis {
 public:
  struct Tick {
    double value = 0;
    bool labelled = false;
  };

  /// low and high above 0, low < high.
  LogAxis(double low, double high, double from, double to);

  /// Pixel of a value; of one outside, the nearer end.
  double at(double value) const;
  bool holds(double value) const { return value >= low_ && value <= high_; }
  double low() const { return low_; }
  double high() const { return high_; }
  double from() const { return from_; }
  double to() const { return to_; }
  /// Pixels from a value to ten times that value; negative where the axis runs backwards.
  double decade() const;
  /// Powers of ten, and 2 … 9 times them where there is room. Labels stand `apart` pixels apart at
  /// least: all powers of ten or every few, and 2 and 5 times them on a short axis.
  std::vector<Tick> ticks(double apart) const;

 private:
  double low_, high_, from_, to_;
};

/// The axis over the 1-2-5 steps around values that lie between least and most.
LogAxis axis_around(double least, double most, double from, double to);

}  // namespace rooflab::plot

#include "labs/toolkit/plot/outline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace rooflab::plot {
namespace {

/// A box turned about its center, and whether a place lies in it: by turning the place back.
struct TurnedBox {
  Box box;
  double degrees;

  bool holds(Place place) const {
    const double radians = degrees * std::numbers::pi / 180;
    const Place center = box.center();
    const double dx = place.x - center.x, dy = place.y - center.y;
    const double x = dx * std::cos(radians) - dy * std::sin(radians);
    const double y = dx * std::sin(radians) + dy * std::cos(radians);
    return std::abs(x) < box.width / 2 && std::abs(y) < box.height / 2;
  }
  Outline outline() const { return Outline::turned(box, degrees); }
};

TEST(Outline, OverlapsExactlyWhereTheTwoShareAPlace) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> place(0, 60), size(4, 40), angle(-90, 90);
  int overlapping = 0;
  for (int round = 0; round < 500; ++round) {
    const TurnedBox a{{place(random), place(random), size(random), size(random)}, angle(random)};
    const TurnedBox b{{place(random), place(random), size(random), size(random)}, angle(random)};
    int shared = 0;
    for (double x = -40; x < 140; x += 0.5) {
      for (double y = -40; y < 140; y += 0.5) shared += a.holds({x, y}) && b.holds({x, y});
    }
    overlapping += shared > 0;
    if (shared > 0) {
      EXPECT_TRUE(a.outline().overlaps(b.outline())) << "round " << round;
    }
    // A corner may share less than the grid sees; what is well apart shares nothing.
    const TurnedBox smaller{b.box.grown(-1), b.degrees};
    if (shared == 0 && smaller.box.width > 0 && smaller.box.height > 0) {
      EXPECT_FALSE(a.outline().overlaps(smaller.outline())) << "round " << round;
    }
  }
  EXPECT_GT(overlapping, 50);
  EXPECT_LT(overlapping, 450);
}

TEST(Outline, ALineOverlapsWhatItCrosses) {
  const Box box{10, 10, 20, 10};
  EXPECT_TRUE(Outline::line({0, 15}, {40, 15}).overlaps(box));
  EXPECT_TRUE(Outline::line({0, 0}, {40, 30}).overlaps(box));
  EXPECT_TRUE(Outline(box).overlaps(Outline::line({20, 0}, {20, 40})));
  EXPECT_TRUE(Outline::line({12, 12}, {28, 18}).overlaps(box)) << "from inside to inside";
  EXPECT_FALSE(Outline::line({0, 5}, {40, 5}).overlaps(box));
  EXPECT_FALSE(Outline::line({0, 15}, {9, 15}).overlaps(box)) << "ends before it";
  EXPECT_FALSE(Outline::line({0, 20}, {20, 40}).overlaps(box)) << "passes a corner";
}

TEST(Outline, IsInsideWhenAllOfItIs) {
  const Box bounds{0, 0, 100, 50};
  EXPECT_TRUE(Outline(Box{0, 0, 100, 50}).inside(bounds));
  EXPECT_FALSE(Outline(Box{1, 0, 100, 50}).inside(bounds));
  EXPECT_FALSE(Outline::turned({10, 10, 60, 20}, 60).inside(bounds));
}

}  // namespace
}  // namespace rooflab::plot

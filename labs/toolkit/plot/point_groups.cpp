#include "labs/toolkit/plot/point_groups.h"

#include <algorithm>
#include <map>
#include <string>

namespace rooflab::plot {

const Point& Group::named() const {
  for (const PointKind kind : {PointKind::measured, PointKind::modelled, PointKind::predicted}) {
    for (const Point* point : points) {
      if (point->kind == kind) return *point;
    }
  }
  return *points.front();
}

std::vector<Group> groups_of(const RooflineChart& chart) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> places;
  for (const Point& point : chart.points) {
    const auto [place, is_new] = places.emplace(point.label, groups.size());
    if (is_new) groups.push_back({});
    groups[place->second].points.push_back(&point);
  }
  for (Group& group : groups) {
    std::stable_sort(group.points.begin(), group.points.end(),
                     [](const Point* a, const Point* b) { return a->kind < b->kind; });
  }
  return groups;
}

}  // namespace rooflab::plot

#include "grader/diagnose/axes.h"

#include <fmt/format.h>

#include <algorithm>

namespace rooflab {
namespace {

constexpr std::size_t kMostStretches = 3;

/// First and last of coordinates that follow each other.
struct Stretch {
  std::int64_t first = 0, last = 0;
};

std::vector<Stretch> stretches_of(const std::vector<std::int64_t>& coordinates) {
  std::vector<Stretch> stretches;
  for (const std::int64_t coordinate : coordinates) {
    if (!stretches.empty() && stretches.back().last + 1 == coordinate) {
      stretches.back().last = coordinate;
    } else {
      stretches.push_back({coordinate, coordinate});
    }
  }
  return stretches;
}

/// Of at least four coordinates that are as far apart; 0 of others.
std::int64_t common_step(const std::vector<std::int64_t>& coordinates) {
  constexpr std::size_t kFewest = 4;
  if (coordinates.size() < kFewest) return 0;
  const std::int64_t step = coordinates[1] - coordinates[0];
  for (std::size_t i = 2; i < coordinates.size(); ++i) {
    if (coordinates[i] - coordinates[i - 1] != step) return 0;
  }
  return step;
}

const std::string* declared_name(const AxisNames& names, const Tensor& tensor, std::size_t axis) {
  const auto found = names.find(tensor.name);
  if (found == names.end() || axis >= found->second.size()) return nullptr;
  return &found->second[axis];
}

}  // namespace

std::string axis_name(const AxisNames& names, const Tensor& tensor, std::size_t axis) {
  if (const std::string* name = declared_name(names, tensor, axis)) return *name;
  if (tensor.shape.size() == 1) return "element";
  if (tensor.shape.size() == 2) return axis == 0 ? "row" : "column";
  return fmt::format("axis {}, index", axis);
}

std::string axis_names(const AxisNames& names, const Tensor& tensor, std::size_t axis) {
  if (declared_name(names, tensor, axis) == nullptr && tensor.shape.size() > 2) {
    return fmt::format("axis {}, indices", axis);
  }
  std::string name = axis_name(names, tensor, axis);
  if (name.ends_with("ry")) name.replace(name.size() - 1, 1, "ie");  // query
  return name + "s";
}

std::string coordinates_text(const std::vector<std::int64_t>& coordinates) {
  if (const std::int64_t step = common_step(coordinates); step > 1) {
    return fmt::format("{}, {}, {}, … {}", coordinates[0], coordinates[1], coordinates[2],
                       coordinates.back());
  }
  const std::vector<Stretch> stretches = stretches_of(coordinates);
  std::string text;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    if (i == kMostStretches && stretches.size() > kMostStretches) return text + ", …";
    const bool is_last = i + 1 == stretches.size();
    if (i > 0) text += is_last ? " and " : ", ";
    const auto [first, last] = stretches[i];
    text += first == last       ? fmt::format("{}", first)
            : first + 1 == last ? fmt::format("{} and {}", first, last)
                                : fmt::format("{} to {}", first, last);
  }
  return text;
}

std::string slices_text(const AxisNames& names, const Tensor& tensor, std::size_t axis,
                        const std::vector<std::int64_t>& coordinates) {
  const auto count = static_cast<std::int64_t>(coordinates.size());
  if (count > 1 && count == tensor.shape[axis]) return "all " + axis_names(names, tensor, axis);
  const std::string what =
      count == 1 ? axis_name(names, tensor, axis) : axis_names(names, tensor, axis);
  return what + " " + coordinates_text(coordinates);
}

std::int64_t coordinate_of(const std::vector<std::int64_t>& shape, std::size_t axis,
                           std::int64_t element) {
  for (std::size_t i = shape.size(); --i > axis;) element /= shape[i];
  return element % shape[axis];
}

std::string place_text(const AxisNames& names, const Tensor& tensor, std::uint64_t first,
                       std::uint64_t count) {
  if (!names.contains(tensor.name) || tensor.elements() == 0) return {};
  std::string text;
  std::int64_t stride = tensor.elements(), rest = static_cast<std::int64_t>(first);
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    stride /= tensor.shape[axis];
    std::vector<std::int64_t> coordinates{rest / stride};
    rest %= stride;
    const bool is_last = axis + 1 == tensor.shape.size();
    const auto end = coordinates[0] + static_cast<std::int64_t>(count);
    while (is_last && end <= tensor.shape[axis] && coordinates.back() + 1 < end) {
      coordinates.push_back(coordinates.back() + 1);
    }
    const std::string name =
        coordinates.size() > 1 ? axis_names(names, tensor, axis) : axis_name(names, tensor, axis);
    text += fmt::format("{}{} {}", axis == 0 ? "" : ", ", name, coordinates_text(coordinates));
  }
  return text;
}

std::string element_text(const AxisNames& names, const Tensor& tensor, std::uint64_t element) {
  if (const std::string place = place_text(names, tensor, element, 1); !place.empty()) {
    return tensor.name + " at " + place;
  }
  std::string text = tensor.name;
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    text +=
        fmt::format("[{}]", coordinate_of(tensor.shape, axis, static_cast<std::int64_t>(element)));
  }
  return text;
}

}  // namespace rooflab

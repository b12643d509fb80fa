#include "grader/diagnose/tensor_places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "simgpu/source/array_elements.h"

namespace rooflab {
namespace {

const Tensor* tensor_at(const simgpu::ArrayPlace& place, const Problem& problem) {
  if (place.space != simgpu::ArraySpace::global || place.name.empty()) return nullptr;
  const auto found = std::ranges::find_if(problem.tensors, [&](const Tensor& tensor) {
    return tensor.name == place.name && tensor.bytes() == place.bytes;
  });
  return found == problem.tensors.end() || found->shape.empty() ? nullptr : &*found;
}

std::string shape_text(const Tensor& tensor) {
  return fmt::format("{} {}", fmt::join(tensor.shape, " x "),
                     tensor.elements() == 1 ? "element" : "elements");
}

bool is_inside(const simgpu::ArrayPlace& place) {
  return place.offset >= 0 && static_cast<std::uint64_t>(place.offset) < place.bytes;
}

/// What has so many elements in this case: a tensor, or a parameter that counts something.
std::optional<std::string> counted_by(std::uint64_t count, const Problem& problem) {
  if (count < 2) return std::nullopt;
  for (const Tensor& tensor : problem.tensors) {
    if (static_cast<std::uint64_t>(tensor.elements()) == count) {
      return tensor.name + " has elements";
    }
  }
  for (const auto& [name, value] : problem.parameters) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number != nullptr && *number > 0 && static_cast<std::uint64_t>(*number) == count) {
      return name + " says";
    }
  }
  return std::nullopt;
}

/// An allocation that has as many bytes as something has elements, and whose elements of this size
/// would be there if it were that many.
std::string help_for_bytes(const simgpu::ArrayPlace& place, const Problem& problem) {
  if (tensor_at(place, problem) != nullptr || place.touched < 2 || place.offset < 0) return {};
  const auto offset = static_cast<std::uint64_t>(place.offset);
  const bool would_be_there =
      offset + place.touched > place.bytes && offset + place.touched <= place.bytes * place.touched;
  const auto counted = counted_by(place.bytes, problem);
  if (!would_be_there || !counted) return {};
  return fmt::format(
      "the allocation has {0} bytes, as many as {1}: sizes of allocations and copies count bytes, "
      "so "
      "multiply by sizeof of an element, {2} bytes",
      place.bytes, *counted, place.touched);
}

/// Whether some length of the case is this one: of a tensor's dimensions, or a parameter.
bool is_length(std::int64_t length, const Problem& problem) {
  const auto has = [&](const Tensor& tensor) {
    return std::ranges::find(tensor.shape, length) != tensor.shape.end();
  };
  const auto is_parameter = [&](const auto& parameter) {
    const auto* number = std::get_if<std::int64_t>(&parameter.second);
    return number != nullptr && *number == length;
  };
  return std::ranges::any_of(problem.tensors, has) ||
         std::ranges::any_of(problem.parameters, is_parameter);
}

/// Neighbouring threads that go along the rows of a matrix, by another length than its own.
std::string help_for_stride(const simgpu::ArrayPlace& place, const Problem& problem) {
  const Tensor* const tensor = tensor_at(place, problem);
  if (tensor == nullptr || tensor->shape.size() != 2) return {};
  const auto bytes = static_cast<std::int64_t>(size_of(tensor->type));
  const std::int64_t row = tensor->shape.back();
  for (const auto& [step, other] :
       {std::pair(place.step_y, place.step_x), std::pair(place.step_x, place.step_y)}) {
    const std::int64_t length = std::abs(step) / bytes;
    const bool goes_along = other == 0 || std::abs(other) == bytes;
    if (!goes_along || step % bytes != 0 || length < 2 || length == row) continue;
    if (length % row == 0 || !is_length(length, problem)) continue;
    return fmt::format(
        "neighbouring threads are {} elements apart in {}, whose rows have {}: is that the "
        "row length of another matrix?",
        length, tensor->name, row);
  }
  return {};
}

/// What lies behind a tensor: ", which has tokens 0 to 63: this would be token 64, head 0", or its
/// shape where its axes have no names.
std::string beyond_text(const simgpu::ArrayPlace& place, const Tensor& tensor,
                        const AxisNames& axes) {
  const std::string shape = ", which has " + shape_text(tensor);
  if (place.offset < 0) return shape;
  const std::uint64_t element = static_cast<std::uint64_t>(place.offset) / size_of(tensor.type);
  const std::string there = place_text(axes, tensor, element, 1);
  if (there.empty()) return shape;
  return fmt::format("{}: this would be {}", shape, there);
}

/// The elements that an access of so many bytes touches whose bytes have `offset` among them, since
/// it is aligned to its size.
std::string accessed_text(std::int64_t offset, std::uint32_t bytes, const Tensor& tensor,
                          const AxisNames& axes) {
  const std::uint64_t size = size_of(tensor.type);
  const std::uint64_t width = std::max<std::uint64_t>(bytes, size);
  const std::uint64_t first = static_cast<std::uint64_t>(offset) / width * width;
  return place_text(axes, tensor, first / size, width / size);
}

/// Says of both sides of a race which elements each of them touches, where they differ.
void tell_sides(simgpu::Finding& finding, const simgpu::ArrayPlace& place, const Tensor& tensor,
                const AxisNames& axes) {
  if (!finding.other || finding.where.bytes == 0 || finding.other->bytes == 0) return;
  const std::string where = accessed_text(place.offset, finding.where.bytes, tensor, axes);
  const std::string other = accessed_text(place.offset, finding.other->bytes, tensor, axes);
  if (where == other) return;
  finding.where.action += " (" + where + ")";
  finding.other->action += " (" + other + ")";
}

}  // namespace

simgpu::Finding with_tensor_elements(simgpu::Finding finding, const Problem& problem,
                                     const AxisNames& axes) {
  for (simgpu::ArrayPlace& place : finding.places) {
    const Tensor* const tensor = tensor_at(place, problem);
    if (tensor == nullptr) continue;
    if (!is_inside(place)) {
      reword_place(finding, place, place.words + beyond_text(place, *tensor, axes));
      continue;
    }
    tell_sides(finding, place, *tensor, axes);
    const auto element =
        simgpu::element_text(tensor->name, tensor->shape, size_of(tensor->type), place.offset);
    if (!element) continue;
    const auto number = static_cast<std::uint64_t>(place.offset) / size_of(tensor->type);
    const std::string in_words = place_text(axes, *tensor, number, 1);
    std::string words = fmt::format("{}{}, where {} has {}", *element,
                                    in_words.empty() ? "" : " (" + in_words + ")", tensor->name,
                                    shape_text(*tensor));
    const std::string after =
        place.words.substr(std::min(place.words.find(", "), place.words.size()));
    reword_place(finding, place, words + after);
  }
  return finding;
}

std::string help_by_sizes(const simgpu::Finding& finding, const Problem& problem) {
  if (finding.code != "RL0201") return {};
  for (const simgpu::ArrayPlace& place : finding.places) {
    if (std::string help = help_for_bytes(place, problem); !help.empty()) return help;
    if (std::string help = help_for_stride(place, problem); !help.empty()) return help;
  }
  return {};
}

}  // namespace rooflab

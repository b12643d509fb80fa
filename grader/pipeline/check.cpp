#include "grader/pipeline/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>

#include "grader/contract/elements.h"

namespace rooflab {
namespace {

void require_fit(const Tensor& tensor, const Expected& expected) {
  const auto elements = static_cast<std::size_t>(tensor.elements());
  const auto compared = expected.index.empty() ? elements : expected.index.size();
  if (expected.value.size() != compared || expected.tolerance.size() != compared) {
    throw OracleFault(
        fmt::format("the oracle expects {} values and {} tolerances of {}, which has {} elements",
                    expected.value.size(), expected.tolerance.size(), tensor.name, compared));
  }
  // Ascending without equals: no element of it counts twice.
  const bool ascends =
      std::ranges::adjacent_find(expected.index, std::greater_equal()) == expected.index.end();
  if (!ascends || (!expected.index.empty() && expected.index.back() >= elements)) {
    throw OracleFault(
        fmt::format("the oracle's indices into {} do not ascend within its {} elements",
                    tensor.name, elements));
  }
}

/// The expectation of the elements that `wanted` is true of.
template <typename Wanted>
Expected part_of(const Expected& all, Wanted wanted) {
  Expected part;
  for (std::size_t i = 0; i < all.value.size(); ++i) {
    const std::size_t element = all.index.empty() ? i : all.index[i];
    if (!wanted(element)) continue;
    part.index.push_back(element);
    part.value.push_back(all.value[i]);
    part.tolerance.push_back(all.tolerance[i]);
  }
  return part;
}

/// Whether all bytes of an element of this size are written.
bool is_within(const std::vector<simgpu::ByteRange>& written, std::size_t element,
               std::size_t size) {
  const std::uint64_t at = element * size;
  const auto after = std::ranges::upper_bound(written, at, {}, &simgpu::ByteRange::address);
  if (after == written.begin()) return false;
  const simgpu::ByteRange& range = *std::prev(after);
  return at + size <= range.address + range.bytes;
}

/// The bytes of these elements, one after the other, out of those of `written`.
std::vector<std::byte> gathered(const std::vector<simgpu::ByteRange>& written,
                                const std::vector<std::size_t>& elements, std::size_t size,
                                std::span<const std::byte> bytes) {
  std::vector<std::byte> all;
  auto range = written.begin();
  std::uint64_t before = 0;  // bytes of earlier ranges
  for (const std::size_t element : elements) {
    const std::uint64_t at = element * size;
    for (; at >= range->address + range->bytes; ++range) before += range->bytes;
    const auto own = bytes.subspan(before + (at - range->address), size);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

/// Whether enough of what the blocks that ran wrote was compared.
bool is_enough(const Expected& all, const Expected& compared) {
  constexpr std::size_t kFewest = 8;
  return compared.value.size() >= std::min(kFewest, all.value.size());
}

/// Whether every compared element is right, which it nearly always is.
bool all_are_right(const Tensor& tensor, const Expected& expected,
                   std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    const std::size_t element = expected.index.empty() ? i : expected.index[i];
    const double got = element_at(tensor.type, bytes, element);
    if (!is_within_tolerance(got, expected.value[i], expected.tolerance[i])) return false;
  }
  return true;
}

/// @param is_written  the device saw all these elements being written, whatever bits they have
TensorCheck compare(const Tensor& tensor, const Expected& expected,
                    std::span<const std::byte> bytes, bool is_written = false) {
  const std::size_t compared = expected.value.size();
  TensorCheck check;
  check.tensor = tensor.name;
  check.shape = tensor.shape;
  check.index = expected.index;
  check.expected = expected.value;
  check.tolerance = expected.tolerance;
  check.got.resize(compared);
  check.wrong.resize(compared);
  check.unwritten.resize(compared);
  for (std::size_t i = 0; i < compared; ++i) {
    const std::size_t element = expected.index.empty() ? i : expected.index[i];
    const double got = element_at(tensor.type, bytes, element);
    const bool wrong = !is_within_tolerance(got, expected.value[i], expected.tolerance[i]);
    const bool unwritten = wrong && !is_written && tensor.role == Role::output &&
                           is_poisoned(tensor.type, bytes, element);
    check.got[i] = got;
    check.wrong[i] = wrong;
    check.unwritten[i] = unwritten;
    check.wrong_count += wrong ? 1 : 0;
    check.unwritten_count += unwritten ? 1 : 0;
    check.nan_count += wrong && std::isnan(got) && !unwritten ? 1 : 0;
  }
  return check;
}

/// Bytes of ranges that are apart from each other.
std::uint64_t bytes_in(const std::vector<simgpu::ByteRange>& ranges) {
  std::uint64_t bytes = 0;
  for (const simgpu::ByteRange& range : ranges) bytes += range.bytes;
  return bytes;
}

/// Of what ran in part only these elements are at hand, one after the other.
void add_wrong_of_packed(const Tensor& tensor, const Expected& expected,
                         std::span<const std::byte> bytes, std::vector<TensorCheck>& wrong) {
  Expected packed = expected;
  packed.index.clear();
  if (all_are_right(tensor, packed, bytes)) return;
  TensorCheck check = compare(tensor, packed, bytes, true);
  check.index = expected.index;
  wrong.push_back(std::move(check));
}

/// What was never written of an output of which only some elements were compared.
struct Unwritten {
  std::size_t searched = 0;  ///< elements; 0: not searched
  std::size_t count = 0;
  std::size_t first = 0;
};

Unwritten unwritten_of(const Tensor& tensor, std::span<const std::byte> bytes) {
  // Any integer may be what the function rightly stores, this one too.
  if (tensor.role != Role::output || tensor.type == ElementType::int32) return {};
  Unwritten unwritten{.searched = static_cast<std::size_t>(tensor.elements())};
  for (std::size_t i = 0; i < unwritten.searched; ++i) {
    if (!is_poisoned(tensor.type, bytes, i)) continue;
    if (unwritten.count++ == 0) unwritten.first = i;
  }
  return unwritten;
}

/// @throws OracleFault unless there is one that fits
const Expected& expected_of(const std::vector<Expected>& all, const Tensor& tensor) {
  const auto found = std::ranges::find(all, tensor.name, &Expected::tensor);
  if (found == all.end()) {
    throw OracleFault(fmt::format("the oracle does not say what {} must hold", tensor.name));
  }
  require_fit(tensor, *found);
  return *found;
}

double as_number(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  return std::get<double>(value);
}

bool value_matches(const Value& got, const Value& expected) {
  if (const auto* text = std::get_if<std::string>(&expected)) {
    const auto* got_text = std::get_if<std::string>(&got);
    return got_text != nullptr && *got_text == *text;
  }
  if (std::holds_alternative<std::string>(got)) return false;
  if (std::holds_alternative<std::int64_t>(got) && std::holds_alternative<std::int64_t>(expected)) {
    return got == expected;
  }
  const double want = as_number(expected);
  const double number = as_number(got);
  return number == want || std::abs(number - want) <= 1e-9 * std::abs(want);
}

}  // namespace

std::vector<TensorCheck> wrong_tensors(const Problem& problem,
                                       const std::vector<Expected>& expected,
                                       const std::vector<std::vector<std::byte>>& outputs) {
  std::vector<TensorCheck> wrong;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    if (tensor.role == Role::input) continue;
    const Expected& right = expected_of(expected, tensor);
    const bool whole = i < outputs.size() && outputs[i].size() == tensor.bytes();
    const std::vector<std::byte> nothing(whole ? 0 : tensor.bytes(), kPoisonByte);
    const std::vector<std::byte>& bytes = whole ? outputs[i] : nothing;
    const Unwritten unwritten = right.index.empty() ? Unwritten{} : unwritten_of(tensor, bytes);
    if (unwritten.count == 0 && all_are_right(tensor, right, bytes)) continue;
    TensorCheck check = compare(tensor, right, bytes);
    if (unwritten.searched > 0) {
      check.searched = unwritten.searched;
      check.unwritten_count = unwritten.count;
      check.first_unwritten = unwritten.first;
    }
    wrong.push_back(std::move(check));
  }
  return wrong;
}

SettledCheck check_settled(const Problem& problem, const std::vector<Expected>& expected,
                           const std::vector<std::vector<std::byte>>& outputs,
                           const SettledPart& settled, double least_written) {
  SettledCheck check{.wrong = {}, .tells = true};
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    if (tensor.role == Role::input) continue;
    const Expected& right = expected_of(expected, tensor);
    const bool is_named = i < settled.written.size() && i < outputs.size();
    const bool is_whole = is_named && outputs[i].size() == tensor.bytes();
    const bool is_packed = is_named && outputs[i].size() == bytes_in(settled.written[i]);
    if (!is_whole && !is_packed) {
      check.tells = false;
      continue;
    }
    const auto& written = settled.written[i];
    const Expected final = part_of(right, [&](std::size_t element) {
      return is_within(written, element, size_of(tensor.type));
    });
    if (!is_whole) {
      add_wrong_of_packed(tensor, final,
                          gathered(written, final.index, size_of(tensor.type), outputs[i]),
                          check.wrong);
    } else if (!all_are_right(tensor, final, outputs[i])) {
      check.wrong.push_back(compare(tensor, final, outputs[i], true));
    }
    const bool is_written = static_cast<double>(settled.of_grid[i]) >=
                            least_written * static_cast<double>(tensor.bytes());
    check.shows_too_little = check.shows_too_little || !is_written;
    check.tells = check.tells && is_written && is_enough(right, final);
  }
  return check;
}

std::vector<ChangedInput> changed_inputs(const Problem& problem,
                                         const std::vector<std::vector<std::byte>>& outputs) {
  std::vector<ChangedInput> changed;
  for (std::size_t i = 0; i < problem.tensors.size() && i < outputs.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    if (tensor.role != Role::input || outputs[i].size() != tensor.data.size()) continue;
    if (outputs[i] == tensor.data) continue;
    const std::size_t size = size_of(tensor.type);
    ChangedInput input{tensor.name, 0, tensor.data.size() / size};
    for (std::size_t at = 0; at + size <= tensor.data.size(); at += size) {
      input.changed += std::memcmp(&outputs[i][at], &tensor.data[at], size) != 0 ? 1 : 0;
    }
    changed.push_back(input);
  }
  return changed;
}

Values wrong_results(const Values& got, Values expected) {
  std::erase_if(expected, [&](const auto& entry) {
    const auto found = got.find(entry.first);
    return found != got.end() && value_matches(found->second, entry.second);
  });
  return expected;
}

}  // namespace rooflab

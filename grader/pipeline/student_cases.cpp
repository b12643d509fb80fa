#include "grader/pipeline/student_cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "grader/contract/test_cases.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

/// Of the results those of one case.
class CaseFields {
 public:
  CaseFields(const Values& results, std::int64_t index) : results_(results), index_(index) {}

  /// @return null where there is none of that type
  template <typename T>
  const T* find(const std::string& name) const {
    const auto found = results_.find(fmt::format("{}.{}", index_, name));
    return found == results_.end() ? nullptr : std::get_if<T>(&found->second);
  }
  const Value* find(const std::string& name) const {
    const auto found = results_.find(fmt::format("{}.{}", index_, name));
    return found == results_.end() ? nullptr : &found->second;
  }

 private:
  const Values& results_;
  std::int64_t index_;
};

/// Bits of float32 elements, eight digits each; nothing where the text is none.
std::optional<std::vector<std::uint32_t>> bits_in(const std::string& text) {
  constexpr std::size_t kDigits = 8;
  if (text.size() % kDigits != 0) return std::nullopt;
  std::vector<std::uint32_t> bits(text.size() / kDigits);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const char* begin = text.data() + i * kDigits;
    const auto [end, error] = std::from_chars(begin, begin + kDigits, bits[i], 16);
    if (error != std::errc() || end != begin + kDigits) return std::nullopt;
  }
  return bits;
}

/// Others can be invisible, look like another one, or turn the direction of text.
bool is_case_name(const std::string& text) {
  const auto is_shown = [](char letter) { return letter >= ' ' && letter <= '~'; };
  return !text.empty() && text.size() <= kLongestCaseName && std::ranges::all_of(text, is_shown) &&
         text.front() != ' ' && text.back() != ' ' && text.find("  ") == std::string::npos;
}

std::string shape_words(const Tensor& tensor) {
  return fmt::format("{}", fmt::join(tensor.shape, " x "));
}

class CaseReader {
 public:
  CaseReader(const Values& results, std::int64_t index, const TaskSpec& task, const Oracle& oracle)
      : fields_(results, index), task_(task), oracle_(oracle) {
    const auto* name = fields_.find<std::string>("name");
    if (name == nullptr || !is_case_name(*name)) {
      throw UnusableCases(
          fmt::format("case {} has no name of 1 to {} characters of ASCII, words with single "
                      "spaces between them",
                      index + 1, kLongestCaseName),
          "name it after what it is about, such as \"K = 1\", with letters, digits and signs "
          "that every keyboard has");
    }
    case_.name = *name;
    read_parameters();
  }

  const std::string& name() const { return case_.name; }
  /// Of all arrays that are a student's to give.
  std::int64_t elements() const {
    std::int64_t sum = 0;
    for (const Tensor& tensor : case_.problem.tensors) {
      if (tensor.type == ElementType::float32) sum += tensor.elements();
    }
    return sum;
  }

  StudentCase read() {
    for (Tensor& tensor : case_.problem.tensors) read_tensor(tensor);
    if (case_.expected.empty()) {
      fail("expects nothing of any output", "give the elements that an output has to hold");
    }
    return std::move(case_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const {
    throw UnusableCases(fmt::format("case \"{}\" {}", case_.name, what), remedy);
  }

  void read_parameters() {
    Values parameters = task_.tested.fixed;
    for (const auto& [name, bounds] : task_.tested.chosen) {
      const Value* value = fields_.find(name);
      const bool is_number = value != nullptr && value->index() == bounds.low.index();
      // A NaN is in no range.
      if (!is_number || !(*value >= bounds.low && *value <= bounds.high)) {
        fail(fmt::format("has {} = {}", name,
                         value == nullptr ? "nothing" : shorten(one_line(text_of(*value)), 30)),
             fmt::format("choose {} from {} to {}", name, text_of(bounds.low),
                         text_of(bounds.high)));
      }
      case_.chosen[name] = *value;
      parameters[name] = *value;
    }
    try {
      case_.problem = oracle_.make(parameters, 0);
    } catch (const std::invalid_argument& error) {
      fail(fmt::format("is no call that the header allows: {}", error.what()),
           "read in the header which parameters go together");
    }
    // An oracle may draw what a case gives.
    for (const auto& [name, value] : case_.chosen) case_.problem.parameters[name] = value;
  }

  void read_tensor(Tensor& tensor) {
    const auto* text = fields_.find<std::string>(tensor.name);
    const bool is_input = tensor.role != Role::output;
    if (tensor.type != ElementType::float32) return;
    const bool is_left_out = text == nullptr ? fields_.find(tensor.name) == nullptr : text->empty();
    if (!is_input && is_left_out) return;
    const auto bits = text == nullptr ? std::nullopt : bits_in(*text);
    std::int64_t count = bits ? static_cast<std::int64_t>(bits->size()) : 0;
    // A guest hands on by its number what no task allows.
    if (const auto* number = fields_.find<std::int64_t>(tensor.name)) count = *number;
    if (!bits || count != tensor.elements()) {
      fail(fmt::format("has {} elements for {}, which is {}", count, tensor.name,
                       shape_words(tensor)),
           fmt::format("give {} as many elements as its shape has: {}", tensor.name,
                       tensor.elements()));
    }
    if (is_input) {
      tensor.data.resize(tensor.bytes());
      std::memcpy(tensor.data.data(), bits->data(), tensor.bytes());
    } else {
      case_.expected.push_back(expectation(tensor.name, *bits));
    }
  }

  Expected expectation(const std::string& tensor, const std::vector<std::uint32_t>& bits) const {
    const auto* tolerance = fields_.find<double>("tolerance");
    if (tolerance == nullptr || !(*tolerance >= 0) || std::isinf(*tolerance)) {
      fail("has no tolerance that is a number of at least 0",
           "say how far an element may be from the one that you expect");
    }
    Expected expected{tensor, {}, std::vector<double>(bits.size(), *tolerance)};
    for (const std::uint32_t one : bits) {
      expected.value.push_back(std::bit_cast<float>(one));
      if (!std::isnan(expected.value.back())) continue;
      fail(fmt::format("expects NaN at element {} of {}", expected.value.size() - 1, tensor),
           "expect a number: nothing equals NaN");
    }
    return expected;
  }

  CaseFields fields_;
  const TaskSpec& task_;
  const Oracle& oracle_;
  StudentCase case_;
};

}  // namespace

ReadCases read_student_cases(const Values& results, const TaskSpec& task, const Oracle& oracle) {
  const auto found = results.find("cases");
  const auto* count = found == results.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  if (count == nullptr || *count < 1) throw UnusableCases("there is no case", "add a first one");
  if (*count > task.tested.most_cases) {
    throw UnusableCases(
        fmt::format("there are {} cases, and {} are allowed", *count, task.tested.most_cases),
        "leave out those that catch what another one catches, too");
  }
  ReadCases read;
  std::set<std::string> names;
  std::int64_t left = task.tested.most_elements;
  for (std::int64_t i = 0; i < *count; ++i) {
    CaseReader reader(results, i, task, oracle);
    if (!names.insert(reader.name()).second) {
      throw UnusableCases(fmt::format("two cases are named \"{}\"", reader.name()),
                          "rename one: reports tell them apart by their names");
    }
    const std::int64_t elements = reader.elements();
    if (elements > left) {
      read.left_out.push_back({reader.name(), elements, left});
      continue;
    }
    left -= elements;
    read.cases.push_back(reader.read());
  }
  return read;
}

}  // namespace rooflab

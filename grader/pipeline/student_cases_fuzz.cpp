// libFuzzer's entry to what the grader reads of a student's cases: whatever results a guest forges,
// the cases that come of them keep every bound of the task, or an objection says what to do. The
// bytes choose how a right reply is changed, field by field.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "grader/contract/oracle.h"
#include "grader/contract/test_cases.h"
#include "grader/pipeline/student_cases.h"
#include "labs/guest_support/student_cases.h"
#include "simgpu/fuzzing/grammar/choices.h"

namespace rooflab {
namespace {

using simgpu::fuzzing::Choices;

void require(bool holds) {
  if (!holds) std::abort();
}

/// y (n) and z (n, width) of x (n, width), with indices that are the oracle's own.
class PairOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t /*seed*/) const override {
    const auto n = std::get<std::int64_t>(parameters.at("n"));
    const auto width = std::get<std::int64_t>(parameters.at("width"));
    if (n < width) throw std::invalid_argument("n is less than width");
    Problem problem{parameters, {}};
    add(problem, "x", ElementType::float32, Role::input, {n, width});
    add(problem, "indices", ElementType::int32, Role::input, {n});
    add(problem, "y", ElementType::float32, Role::output, {n});
    add(problem, "z", ElementType::float32, Role::output, {n, width});
    return problem;
  }

 private:
  static void add(Problem& problem, const char* name, ElementType type, Role role,
                  std::vector<std::int64_t> shape) {
    Tensor& tensor = problem.tensors.emplace_back();
    tensor.name = name;
    tensor.type = type;
    tensor.role = role;
    tensor.shape = std::move(shape);
    if (role == Role::input) tensor.data.resize(tensor.bytes());
  }
};

TaskSpec pair_tests() {
  TaskSpec task;
  task.tested.most_cases = 4;
  task.tested.most_elements = 30;
  task.tested.chosen["n"] = {std::int64_t{1}, std::int64_t{6}};
  task.tested.chosen["width"] = {std::int64_t{1}, std::int64_t{4}};
  task.tested.chosen["scale"] = {0.5, 2.0};
  return task;
}

std::vector<float> floats(Choices& choices, std::size_t count) {
  static constexpr float kNumbers[] = {1, -0.0F, 1e38F, NAN, INFINITY};
  std::vector<float> values(count);
  for (float& value : values) value = kNumbers[choices.below(std::size(kNumbers))];
  return values;
}

/// As an adapter hands cases on, right but for a length now and then.
Values handed_on(Choices& choices) {
  KeptObjects kept;
  GuestCall call({}, {}, kept);
  StudentCases cases(call);
  const std::size_t count = choices.count(70) + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t n = choices.below(6) + 1;
    const std::size_t width = choices.below(n) + 1;
    const std::size_t more = choices.rarely(16) ? choices.count(1U << 17) : 0;
    const std::string name =
        choices.rarely(8) ? simgpu::fuzzing::awkward_text(choices) : "case " + std::to_string(i);
    cases.add(name, choices.rarely(16) ? -1.0 : 0.5)
        .integer("n", static_cast<std::int64_t>(n))
        .integer("width", static_cast<std::int64_t>(width))
        .real("scale", 1)
        .array("x", floats(choices, n * width + more))
        .array("y", floats(choices, choices.coin() ? n : 0))
        .array("z", floats(choices, choices.coin() ? n * width : 0));
  }
  return call.results();
}

Value any_value(Choices& choices) {
  switch (choices.below(4)) {
    case 0:
      return static_cast<std::int64_t>(choices.number());
    case 1:
      return choices.coin() ? std::nan("") : static_cast<double>(choices.number(2)) / 64;
    case 2:
      return std::string(choices.of({"", "3f800000", "3F80000", "7fc00000", "-f800000"}));
    default:
      return simgpu::fuzzing::awkward_text(choices);
  }
}

/// What a guest can make of them that writes its reply itself.
void forge(Values& results, Choices& choices) {
  static constexpr std::string_view kFields[] = {"name", "tolerance", "n", "width", "scale",
                                                 "x",    "indices",   "y", "z",     "none"};
  for (std::size_t left = choices.below(4); left > 0; --left) {
    std::string key = "cases";
    if (!choices.rarely(4)) {
      key = std::to_string(choices.below(5)) + "." + std::string(choices.of(kFields));
    }
    if (choices.coin()) {
      results.erase(key);
    } else {
      results[key] = any_value(choices);
    }
  }
}

void require_bounds(const ReadCases& read, const TaskSpec& task) {
  require(read.cases.size() + read.left_out.size() <=
          static_cast<std::size_t>(task.tested.most_cases));
  std::set<std::string> names;
  std::int64_t elements = 0;
  for (const StudentCase& one : read.cases) {
    require(names.insert(one.name).second && one.name.size() <= kLongestCaseName);
    for (const char letter : one.name) require(letter >= ' ' && letter <= '~');
    require(one.chosen.size() == task.tested.chosen.size() && !one.expected.empty());
    for (const auto& [name, bounds] : task.tested.chosen) {
      const Value& value = one.chosen.at(name);
      require(value >= bounds.low && value <= bounds.high);
    }
    for (const Tensor& tensor : one.problem.tensors) {
      require(tensor.role == Role::output || tensor.data.size() == tensor.bytes());
      elements += tensor.type == ElementType::float32 ? tensor.elements() : 0;
    }
    for (const Expected& expected : one.expected) {
      require(expected.value.size() == expected.tolerance.size() && expected.tensor != "x");
      for (const double value : expected.value) require(!std::isnan(value));
      for (const double most : expected.tolerance) require(most >= 0 && !std::isinf(most));
    }
  }
  for (const LeftOutCase& one : read.left_out) {
    require(names.insert(one.name).second && one.elements > one.left && one.left >= 0);
  }
  require(elements <= task.tested.most_elements);
}

void read(const Values& results) {
  const TaskSpec task = pair_tests();
  try {
    require_bounds(read_student_cases(results, task, PairOracle()), task);
  } catch (const UnusableCases& error) {
    require(*error.what() != '\0' && !error.remedy().empty());
  }
}

}  // namespace
}  // namespace rooflab

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  simgpu::fuzzing::Choices choices({reinterpret_cast<const char*>(data), size});
  rooflab::Values results = rooflab::handed_on(choices);
  rooflab::read(results);
  rooflab::forge(results, choices);
  rooflab::read(results);
  return 0;
}

#include "grader/reactions/input_changes.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <utility>

#include "grader/contract/elements.h"
#include "grader/reactions/changed_values.h"

namespace rooflab {
namespace {

using Shape = std::vector<std::int64_t>;

/// Elements between neighbours along an axis.
std::int64_t stride_of(const Shape& shape, std::size_t axis) {
  std::int64_t stride = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) stride *= shape[i];
  return stride;
}

/// The changes of one problem, as they are thought of.
class Changes {
 public:
  Changes(const Problem& problem, const AxisNames& axes) : problem_(problem), axes_(axes) {}

  std::vector<InputChange> all() {
    for (std::size_t i = 0; i < problem_.tensors.size(); ++i) {
      if (is_changeable(problem_.tensors[i])) leave_out(i);
    }
    exchange_tensors();
    for (std::size_t i = 0; i < problem_.tensors.size(); ++i) {
      if (!is_changeable(problem_.tensors[i])) continue;
      change_values(i);
      change_axes(i);
    }
    return std::move(changes_);
  }

 private:
  using ChangeValue = double (*)(double);

  const Tensor& tensor(std::size_t i) const { return problem_.tensors[i]; }

  void add(std::string cause, std::string help, std::function<void(Problem&)> apply) {
    changes_.push_back({std::move(cause), std::move(help), std::move(apply)});
  }

  void add_values(std::size_t i, const std::string& cause, const std::string& help,
                  ChangeValue change) {
    add(cause, help, [i, change](Problem& problem) {
      change_elements(problem.tensors[i],
                      [change](std::size_t, double value) { return change(value); });
    });
  }

  /// @param source of an element's number, by shape
  void add_moves(std::size_t i, const std::string& cause, const std::string& help,
                 std::function<std::int64_t(const Shape&, std::int64_t)> source) {
    add(cause, help, [i, source = std::move(source)](Problem& problem) {
      Tensor& tensor = problem.tensors[i];
      move_elements(tensor, [&](std::int64_t element) { return source(tensor.shape, element); });
    });
  }

  void leave_out(std::size_t i) {
    const std::string name = tensor(i).name;
    add_values(i, fmt::format("{0} has no effect: the result is what zeros in {0} give", name),
               fmt::format("where is {} read, and what becomes of the value?", name),
               [](double) { return 0.0; });
    add_values(i, fmt::format("{0} has no effect: the result is what ones in {0} give", name),
               fmt::format("where is {} read, and what becomes of the value?", name),
               [](double) { return 1.0; });
  }

  void exchange_tensors() {
    for (std::size_t i = 0; i < problem_.tensors.size(); ++i) {
      for (std::size_t j = i + 1; j < problem_.tensors.size(); ++j) {
        const bool may = is_changeable(tensor(i)) && is_changeable(tensor(j)) &&
                         tensor(i).type == tensor(j).type && tensor(i).bytes() == tensor(j).bytes();
        if (!may) continue;
        add(fmt::format("{} and {} are in each other's place", tensor(i).name, tensor(j).name),
            "compare the order of the arguments, from the function's head to the kernel's body",
            [i, j](Problem& problem) {
              std::swap(problem.tensors[i].data, problem.tensors[j].data);
            });
        add(fmt::format("{} is read in place of {}, too", tensor(i).name, tensor(j).name),
            fmt::format("which pointer goes where {} is due?", tensor(j).name),
            [i, j](Problem& problem) { problem.tensors[j].data = problem.tensors[i].data; });
        add(fmt::format("{} is read in place of {}, too", tensor(j).name, tensor(i).name),
            fmt::format("which pointer goes where {} is due?", tensor(i).name),
            [i, j](Problem& problem) { problem.tensors[i].data = problem.tensors[j].data; });
      }
    }
  }

  void change_values(std::size_t i) {
    const std::string name = tensor(i).name;
    const std::string help = fmt::format("follow one value of {} from its load to the sum", name);
    add_values(i, fmt::format("{} goes in with the wrong sign", name), help,
               [](double value) { return -value; });
    add_values(i, fmt::format("{} goes in twice", name), help,
               [](double value) { return 2 * value; });
    add_values(i, fmt::format("{} goes in by half", name), help,
               [](double value) { return value / 2; });
    add_values(i, fmt::format("1 is added to {}", name), help,
               [](double value) { return value + 1; });
    add_values(i, fmt::format("1 is missing beside {}, or subtracted from it", name), help,
               [](double value) { return value - 1; });
    add_values(i, fmt::format("{} is squared", name), help,
               [](double value) { return value * value; });
    add_values(i, fmt::format("{} goes in by its absolute value", name), help,
               [](double value) { return std::abs(value); });
    add_values(i, fmt::format("negative values of {} go in as zeros", name), help,
               [](double value) { return value < 0 ? 0 : value; });
    add_values(i, fmt::format("{} goes in without its fractions, as integers", name), help,
               [](double value) { return std::trunc(value); });
  }

  void change_axes(std::size_t i) {
    const Shape& shape = tensor(i).shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] < 2) continue;
      change_slices(i, axis);
      if (axis + 1 < shape.size() && shape[axis + 1] > 1) exchange_axes(i, axis);
    }
  }

  void change_slices(std::size_t i, std::size_t axis) {
    const std::string name = tensor(i).name;
    const std::string slice = axis_name(axes_, tensor(i), axis);
    const std::string help =
        fmt::format("print the index that {} is read at, beside the {}", name, slice);
    const auto moved = [axis](auto&& coordinate) {
      return [axis, coordinate](const Shape& shape, std::int64_t element) {
        const std::int64_t at = coordinate_of(shape, axis, element);
        const std::int64_t to = coordinate(at, shape[axis]);
        if (to < 0 || to >= shape[axis]) return std::int64_t{-1};
        return element + (to - at) * stride_of(shape, axis);
      };
    };
    add_moves(i, fmt::format("{} 0 of {} is read for every {}", slice, name, slice), help,
              moved([](std::int64_t, std::int64_t) { return std::int64_t{0}; }));
    add_moves(i, fmt::format("the last {} of {} is left out", slice, name), help,
              moved([](std::int64_t at, std::int64_t count) { return at + 1 == count ? -1 : at; }));
    add_moves(i, fmt::format("{} 0 of {} is left out", slice, name), help,
              moved([](std::int64_t at, std::int64_t) { return at == 0 ? -1 : at; }));
    add_moves(i, fmt::format("the next {} of {} is read", slice, name), help,
              moved([](std::int64_t at, std::int64_t) { return at + 1; }));
    add_moves(i, fmt::format("the {} before is read of {}", slice, name), help,
              moved([](std::int64_t at, std::int64_t) { return at - 1; }));
    add_moves(i, fmt::format("{} is read from its last {} to its first", name, slice), help,
              moved([](std::int64_t at, std::int64_t count) { return count - 1 - at; }));
  }

  /// Axes `axis` and `axis` + 1 of the array as it lies in memory.
  void exchange_axes(std::size_t i, std::size_t axis) {
    const std::string name = tensor(i).name;
    const std::string first = axis_name(axes_, tensor(i), axis);
    const std::string second = axis_name(axes_, tensor(i), axis + 1);
    add_moves(
        i,
        fmt::format("{} is read as if its {} lay within its {}", name,
                    axis_names(axes_, tensor(i), axis), axis_names(axes_, tensor(i), axis + 1)),
        fmt::format(
            "elements of one {} lie {} apart from {} to {}: check what multiplies the index "
            "of the {}, and what that of the {}",
            first, stride_of(tensor(i).shape, axis + 1), second, second, first, second),
        [axis](const Shape& shape, std::int64_t element) {
          const std::int64_t a = coordinate_of(shape, axis, element);
          const std::int64_t b = coordinate_of(shape, axis + 1, element);
          const std::int64_t inner = stride_of(shape, axis + 1);
          const std::int64_t block = inner * shape[axis] * shape[axis + 1];
          return element / block * block + (b * shape[axis] + a) * inner + element % inner;
        });
  }

  const Problem& problem_;
  const AxisNames& axes_;
  std::vector<InputChange> changes_;
};

/// Other values of a real parameter, each with its words.
struct OtherValue {
  const char* words;
  double (*of)(double);
};
constexpr OtherValue kOtherValues[] = {
    {"is left out, as if it were 0", [](double) { return 0.0; }},
    {"is left out, as if it were 1", [](double) { return 1.0; }},
    {"has the wrong sign", [](double x) { return -x; }},
    {"goes in as its reciprocal", [](double x) { return 1 / x; }},
    {"goes in squared", [](double x) { return x * x; }},
    {"goes in as its square root", [](double x) { return std::sqrt(x); }},
    {"goes in as the root of its reciprocal", [](double x) { return 1 / std::sqrt(x); }},
    {"goes in twice", [](double x) { return 2 * x; }},
    {"goes in by half", [](double x) { return x / 2; }},
    {"is multiplied by log2(e)", [](double x) { return x * std::numbers::log2e; }},
    {"is multiplied by ln(2)", [](double x) { return x * std::numbers::ln2; }},
    {"goes in without its fraction", [](double x) { return std::trunc(x); }},
};

void add_real(const std::string& name, double value, std::vector<InputChange>& changes) {
  for (const OtherValue& other : kOtherValues) {
    const double changed = other.of(value);
    if (!std::isfinite(changed) || changed == value) continue;
    changes.push_back({fmt::format("{} {}: {:.6g} for {:.6g}", name, other.words, changed, value),
                       fmt::format("where is {} used, and is it computed anew there?", name),
                       [name, of = other.of](Problem& problem) {
                         auto& parameter = std::get<double>(problem.parameters.at(name));
                         parameter = of(parameter);
                       }});
  }
}

void add_integer(const std::string& name, std::int64_t value, std::vector<InputChange>& changes) {
  for (const std::int64_t step : {-1, 1}) {
    changes.push_back({fmt::format("{} counts one too {}: the result is that of {} for {}", name,
                                   step < 0 ? "few" : "many", value + step, value),
                       fmt::format("which comparison uses {}: < or <=, with or without 1?", name),
                       [name, step](Problem& problem) {
                         std::get<std::int64_t>(problem.parameters.at(name)) += step;
                       }});
  }
  if (value != 0 && value != 1) {
    changes.push_back(
        {fmt::format("{} has no effect: the result is that of 0", name),
         fmt::format("where does the kernel use {}?", name),
         [name](Problem& problem) { std::get<std::int64_t>(problem.parameters.at(name)) = 0; }});
  }
}

/// Whether the tensors of both have the same names, types and shapes.
bool has_same_shapes(const Problem& a, const Problem& b) {
  if (a.tensors.size() != b.tensors.size()) return false;
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const Tensor& left = a.tensors[i];
    const Tensor& right = b.tensors[i];
    if (left.name != right.name || left.type != right.type || left.shape != right.shape) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<InputChange> input_changes(const Problem& problem, const AxisNames& axes) {
  return Changes(problem, axes).all();
}

std::vector<InputChange> parameter_changes(const Problem& problem, const Oracle& oracle) {
  std::vector<InputChange> changes;
  for (const auto& [name, value] : problem.parameters) {
    if (const auto* real = std::get_if<double>(&value)) add_real(name, *real, changes);
    if (const auto* count = std::get_if<std::int64_t>(&value)) add_integer(name, *count, changes);
  }
  // Where a size is another, the tensors of this problem would not be what the oracle expects.
  std::erase_if(changes, [&](const InputChange& change) {
    Problem changed{problem.parameters, {}};
    change.apply(changed);
    try {
      return !has_same_shapes(problem, oracle.make(changed.parameters, 0));
    } catch (const std::exception&) {
      return true;
    }
  });
  return changes;
}

}  // namespace rooflab

#include "grader/reactions/input_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
  Changes(const Problem& problem, const AxisNames& axes) : problem_(problem), axes_(axes) {
    for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
      if (is_changeable(problem.tensors[i])) alone_.push_back({i});
    }
    // What is done to k is mostly done to v, too.
    for (std::size_t i = 0; i < alone_.size(); ++i) {
      for (std::size_t j = i + 1; j < alone_.size(); ++j) {
        const Tensor& first = tensor(alone_[i]);
        const Tensor& second = tensor(alone_[j]);
        if (first.shape != second.shape || first.type != second.type) continue;
        together_.push_back({alone_[i].front(), alone_[j].front()});
      }
    }
  }

  std::vector<InputChange> all() {
    for (const Tensors& tensors : alone_) leave_out(tensors);
    exchange_tensors();
    for (const auto* groups : {&alone_, &together_}) {
      for (const Tensors& tensors : *groups) {
        change_values(tensors);
        change_axes(tensors);
      }
    }
    return std::move(changes_);
  }

 private:
  using ChangeValue = double (*)(double);
  using Tensors = std::vector<std::size_t>;  ///< of one shape, which are changed alike

  const Tensor& tensor(const Tensors& tensors) const { return problem_.tensors[tensors.front()]; }

  std::string names(const Tensors& tensors) const {
    std::vector<std::string> all;
    for (const std::size_t i : tensors) all.push_back(problem_.tensors[i].name);
    return fmt::format("{}", fmt::join(all, " and "));
  }

  void add(std::string cause, std::string help, std::function<void(Problem&)> apply) {
    changes_.push_back({std::move(cause), std::move(help), std::move(apply)});
  }

  void add_values(const Tensors& tensors, const std::string& cause, const std::string& help,
                  ChangeValue change) {
    add(cause, help, [tensors, change](Problem& problem) {
      for (const std::size_t i : tensors) {
        change_elements(problem.tensors[i],
                        [change](std::size_t, double value) { return change(value); });
      }
    });
  }

  /// @param source of an element's number, by shape
  void add_moves(const Tensors& tensors, const std::string& cause, const std::string& help,
                 std::function<std::int64_t(const Shape&, std::int64_t)> source) {
    add(cause, help, [tensors, source = std::move(source)](Problem& problem) {
      for (const std::size_t i : tensors) {
        Tensor& tensor = problem.tensors[i];
        move_elements(tensor, [&](std::int64_t element) { return source(tensor.shape, element); });
      }
    });
  }

  void leave_out(const Tensors& tensors) {
    const std::string name = names(tensors);
    const std::string help = fmt::format("where is {} read, and what becomes of the value?", name);
    add_values(tensors,
               fmt::format("{0} has no effect: the result is what zeros in {0} give", name), help,
               [](double) { return 0.0; });
    add_values(tensors, fmt::format("{0} has no effect: the result is what ones in {0} give", name),
               help, [](double) { return 1.0; });
  }

  void exchange_tensors() {
    for (std::size_t a = 0; a < alone_.size(); ++a) {
      for (std::size_t b = a + 1; b < alone_.size(); ++b) {
        const std::size_t i = alone_[a].front(), j = alone_[b].front();
        const Tensor& first = problem_.tensors[i];
        const Tensor& second = problem_.tensors[j];
        if (first.type != second.type || first.bytes() != second.bytes()) continue;
        add(fmt::format("{} and {} are in each other's place", first.name, second.name),
            "compare the order of the arguments, from the function's head to the kernel's body",
            [i, j](Problem& problem) {
              std::swap(problem.tensors[i].data, problem.tensors[j].data);
            });
        add(fmt::format("{} is read in place of {}, too", first.name, second.name),
            fmt::format("which pointer goes where {} is due?", second.name),
            [i, j](Problem& problem) { problem.tensors[j].data = problem.tensors[i].data; });
        add(fmt::format("{} is read in place of {}, too", second.name, first.name),
            fmt::format("which pointer goes where {} is due?", first.name),
            [i, j](Problem& problem) { problem.tensors[i].data = problem.tensors[j].data; });
      }
    }
  }

  void change_values(const Tensors& tensors) {
    const std::string name = names(tensors);
    const bool is_one = tensors.size() == 1;
    const char* const goes = is_one ? "goes" : "go";
    const std::string help = fmt::format("follow one value of {} from its load to the sum", name);
    add_values(tensors, fmt::format("{} {} in with the wrong sign", name, goes), help,
               [](double value) { return -value; });
    add_values(tensors, fmt::format("{} {} in twice", name, goes), help,
               [](double value) { return 2 * value; });
    add_values(tensors, fmt::format("{} {} in by half", name, goes), help,
               [](double value) { return value / 2; });
    add_values(tensors, fmt::format("1 is added to {}", name), help,
               [](double value) { return value + 1; });
    add_values(tensors, fmt::format("1 is missing beside {}, or subtracted from it", name), help,
               [](double value) { return value - 1; });
    add_values(tensors, fmt::format("{} {} squared", name, is_one ? "is" : "are"), help,
               [](double value) { return value * value; });
    add_values(tensors, fmt::format("{} {} in by absolute value", name, goes), help,
               [](double value) { return std::abs(value); });
    add_values(tensors, fmt::format("negative values of {} go in as zeros", name), help,
               [](double value) { return value < 0 ? 0 : value; });
    add_values(tensors, fmt::format("{} {} in without fractions, as integers", name, goes), help,
               [](double value) { return std::trunc(value); });
  }

  void change_axes(const Tensors& tensors) {
    const Shape& shape = tensor(tensors).shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] < 2) continue;
      change_slices(tensors, axis);
      if (axis + 1 < shape.size() && shape[axis + 1] > 1) exchange_axes(tensors, axis);
    }
  }

  void change_slices(const Tensors& tensors, std::size_t axis) {
    const std::string name = names(tensors);
    const std::string slice = axis_name(axes_, tensor(tensors), axis);
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
    add_moves(tensors, fmt::format("{} 0 of {} is read for every {}", slice, name, slice), help,
              moved([](std::int64_t, std::int64_t) { return std::int64_t{0}; }));
    add_moves(tensors, fmt::format("the last {} of {} is left out", slice, name), help,
              moved([](std::int64_t at, std::int64_t count) { return at + 1 == count ? -1 : at; }));
    add_moves(tensors, fmt::format("{} 0 of {} is left out", slice, name), help,
              moved([](std::int64_t at, std::int64_t) { return at == 0 ? -1 : at; }));
    add_moves(tensors, fmt::format("the next {} of {} is read", slice, name), help,
              moved([](std::int64_t at, std::int64_t) { return at + 1; }));
    add_moves(tensors, fmt::format("the {} before is read of {}", slice, name), help,
              moved([](std::int64_t at, std::int64_t) { return at - 1; }));
    add_moves(tensors,
              fmt::format("{} {} read from the last {} to the first", name,
                          tensors.size() == 1 ? "is" : "are", slice),
              help, moved([](std::int64_t at, std::int64_t count) { return count - 1 - at; }));
  }

  /// Axes `axis` and `axis` + 1 of the arrays as they lie in memory.
  void exchange_axes(const Tensors& tensors, std::size_t axis) {
    const Tensor& first_of_all = tensor(tensors);
    const std::string first = axis_name(axes_, first_of_all, axis);
    const std::string second = axis_name(axes_, first_of_all, axis + 1);
    add_moves(tensors,
              fmt::format("{} {} read as if {} lay within {}", names(tensors),
                          tensors.size() == 1 ? "is" : "are", axis_names(axes_, first_of_all, axis),
                          axis_names(axes_, first_of_all, axis + 1)),
              fmt::format(
                  "elements of one {} lie {} apart from {} to {}: check what multiplies the index "
                  "of the {}, and what that of the {}",
                  first, stride_of(first_of_all.shape, axis + 1), second, second, first, second),
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
  std::vector<Tensors> alone_, together_;
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

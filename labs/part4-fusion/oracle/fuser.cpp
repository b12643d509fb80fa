#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/known_mistakes.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/rounding.h"
#include "labs/oracle_support/selection.h"
#include "labs/oracle_support/tensors.h"
#include "labs/part4-fusion/oracle/expression.h"

namespace rooflab {
namespace {

/// Nodes of expressions that are evaluated in fp64 for one output: a part of a second.
constexpr std::size_t kMostNodes = std::size_t{1} << 23;

/// evaluate of fuser.h, called `calls` times. Parameters: expression, in postfix notation; or
/// `start`, and `step`, appended to it `times` times; inputs, count, calls, type. Inputs are drawn
/// from [-2, 2]. Cases of judges_structure count launches and compilations.
class FuserOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    Problem problem{parameters, {}};
    problem.vast = is_vast(parameters);
    problem.parameters["expression"] = expression_text(parameters);
    const ElementType type = storage_type(parameters);
    const std::int64_t count = integer(parameters, "count");
    const std::int64_t inputs = integer(parameters, "inputs", 0);
    Random random(seed);
    for (std::int64_t i = 0; i < inputs; ++i) {
      const std::string name = std::string("x").append(std::to_string(i));
      const std::int64_t own = problem.vast ? vast_period(type) : count;
      const Tensor input = drawn(name, type, Role::input, {own}, [&] {
        return static_cast<double>(random() >> 11) * 0x1p-53 * 4 - 2;
      });
      problem.tensors.push_back(problem.vast ? repeated(input, count) : input);
    }
    problem.tensors.push_back(output("out", type, {count}));
    const PostfixExpression expression(expression_text(parameters));
    if (!expression.used_inputs().empty() && expression.used_inputs().back() >= inputs) {
      throw std::invalid_argument("`expression` uses an input that is not among `inputs`");
    }
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return {evaluated(problem, {})};
  }

  Work work(const Values& parameters) const override {
    const PostfixExpression expression(expression_text(parameters));
    const auto count = static_cast<double>(integer(parameters, "count"));
    const auto arrays = static_cast<double>(expression.used_inputs().size() + 1);
    const auto calls = static_cast<double>(integer(parameters, "calls"));
    const auto flops = static_cast<double>(expression.additions_and_products());
    return {{{"fp32", calls * flops * count}},
            calls * arrays * count * static_cast<double>(size_of(storage_type(parameters)))};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    if (problem.vast) return {};  // other cases know them
    Mistakes mistakes(expect(problem));
    const auto add = [&](const char* cause, const char* advice, const ExpressionRule& rule) {
      mistakes.add("RL0518", cause, advice, {evaluated(problem, rule)});
    };
    mistakes.add_not_finite(
        "RL0518", "min and max give NaN where one operand is a number",
        "a comparison with NaN is false, and `a < b ? a : b` then gives b, NaN or not: fminf and "
        "fmaxf give the operand that is a number",
        {evaluated(problem, {.extremes_by_comparison = true})});
    constexpr const char* kOperands = "a, b and c of a node stand in the order that fuser.h shows";
    add("the operands of a subtraction are swapped", kOperands, {.sub_swapped = true});
    add("the operands of a division are swapped", kOperands, {.div_swapped = true});
    add("the two values of a select are swapped", kOperands, {.select_swapped = true});
    add("min and max are swapped", kOperands, {.min_is_max = true});
    add("the reciprocal of a square root is a square root", "rsqrt(a) = 1 / sqrt(a)",
        {.rsqrt_is_sqrt = true});
    constexpr const char* kDigits =
        "write a constant so that no bit is lost: in hexadecimal (%a), or by its bits with "
        "__int_as_float";
    add("constants have only six decimals", kDigits, {.six_decimals = true});
    add("constants are whole numbers", kDigits, {.whole_constants = true});
    constexpr const char* kInputs = "a node of Op::input reads inputs[node.input]";
    add("inputs are numbered as they appear in the expression", kInputs, {.inputs_in_order = true});
    add("all inputs are the same array", kInputs, {.only_first_input = true});
    return mistakes.take();
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    if (!evidence.keeps_records || !judges_structure(problem.parameters)) return {};
    const std::int64_t calls = integer(problem.parameters, "calls");
    const auto launches = static_cast<std::int64_t>(evidence.activity.kernels.size());
    if (launches > calls) {
      return {{"RL0519",
               "the expression is not one kernel" +
                   Evidence{message(": ", launches, " were launched in ", calls, " calls")},
               "write all nodes into the source of one kernel: each value is a variable in a "
               "register"}};
    }
    const auto loaded = evidence.activity.api_calls.find("cuModuleLoadData");
    const std::int64_t loads =
        loaded == evidence.activity.api_calls.end() ? 0 : static_cast<std::int64_t>(loaded->second);
    if (loads > 1) {
      return {{"RL0519",
               "the same expression was compiled and loaded more than once" +
                   Evidence{message(": ", loads, " times in ", calls, " calls")},
               "look the source up in cache.kernels first, and put there what you load"}};
    }
    return {};
  }

 private:
  static std::string expression_text(const Values& parameters) {
    if (parameters.contains("expression")) return text(parameters, "expression");
    std::string expression = text(parameters, "start");
    for (std::int64_t i = 0; i < integer(parameters, "times"); ++i) {
      expression += " " + text(parameters, "step");
    }
    return expression;
  }

  /// Of a vast input, what it repeats.
  static std::vector<double> all_that_is_there(const Tensor& tensor) {
    const std::size_t count = tensor.data.size() / size_of(tensor.type);
    return widened(tensor, listed({}, count));
  }

  static Expected evaluated(const Problem& problem, const ExpressionRule& rule) {
    const PostfixExpression expression(text(problem.parameters, "expression"), rule);
    std::vector<std::vector<double>> inputs;
    for (const Tensor& tensor : problem.tensors) {
      if (tensor.role == Role::input) inputs.push_back(all_that_is_there(tensor));
    }
    Computed computed;
    std::vector<double> element(inputs.size());
    const auto count = static_cast<std::size_t>(integer(problem.parameters, "count"));
    constexpr std::size_t kMostIfVast = 20'000;
    const std::size_t affordable = kMostNodes / std::max<std::size_t>(1, expression.nodes());
    std::vector<std::size_t> index = selected_elements(
        problem, "out", problem.vast ? std::min(affordable, kMostIfVast) : affordable);
    for (const std::size_t i : listed(index, count)) {
      for (std::size_t k = 0; k < inputs.size(); ++k) element[k] = inputs[k][i % inputs[k].size()];
      const Approximate result = expression.evaluate(element);
      computed.value.push_back(result.value);
      computed.error.push_back(result.error);
    }
    Expected expected = stored("out", storage_type(problem.parameters), std::move(computed));
    expected.index = std::move(index);
    return expected;
  }
};

ROOFLAB_ORACLE("fuser", FuserOracle)

}  // namespace
}  // namespace rooflab

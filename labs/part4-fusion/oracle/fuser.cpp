#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

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
/// from [-2, 2]. Cases of judges_structure count launches and compilations. `before` has other
/// expressions, one in a line, which are evaluated first with the same cache, and stored as
/// `before_type` says, `type` where it is not given: each has an output of its own.
class FuserOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    Problem problem{parameters, {}};
    problem.vast = is_vast(parameters);
    problem.parameters["expression"] = expression_text(parameters);
    problem.parameters.emplace("before", "");
    problem.parameters.emplace("before_type", text(parameters, "type"));
    const ElementType type = storage_type(parameters);
    const std::int64_t count = integer(parameters, "count");
    const std::int64_t inputs = integer(parameters, "inputs", 0);
    Random random(seed);
    for (std::int64_t i = 0; i < inputs; ++i) {
      const std::string name = input_name(i);
      const std::int64_t own = problem.vast ? vast_period(type) : count;
      const Tensor input = drawn(name, type, Role::input, {own}, [&] {
        return static_cast<double>(random() >> 11) * 0x1p-53 * 4 - 2;
      });
      problem.tensors.push_back(problem.vast ? repeated(input, count) : input);
    }
    problem.tensors.push_back(output("out", type, {count}));
    require_inputs(expression_text(parameters), inputs);
    add_others(problem, random);
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return expected_of(problem);
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
    // First: what a cache mixes up may look like other mistakes, which are in other cases, too.
    add_other_kernels(problem, mistakes);
    const auto add = [&](const char* cause, const char* advice, const ExpressionRule& rule) {
      mistakes.add("RL0518", cause, advice, expected_of(problem, rule));
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
    const std::vector<Evaluation> before = others(problem);
    const std::int64_t calls =
        integer(problem.parameters, "calls") + static_cast<std::int64_t>(before.size());
    const auto launches = static_cast<std::int64_t>(evidence.activity.kernels.size());
    if (launches > calls) {
      return {{"RL0519",
               "the expression is not one kernel" +
                   Evidence{message(": ", launches, " were launched in ", calls, " calls")},
               "write all nodes into the source of one kernel: each value is a variable in a "
               "register"}};
    }
    std::set<std::pair<ElementType, std::string>> different = {
        {judged(problem).type, judged(problem).expression}};
    for (const Evaluation& each : before) different.emplace(each.type, each.expression);
    const auto loaded = evidence.activity.api_calls.find("cuModuleLoadData");
    const std::uint64_t loads = loaded == evidence.activity.api_calls.end() ? 0 : loaded->second;
    if (loads > different.size()) {
      return {{"RL0519",
               "the same expression was compiled and loaded more than once" +
                   Evidence{message(": ", loads, " kernels were loaded in ", calls, " calls with ",
                                    different.size(), " different expressions")},
               "look the source up in cache.kernels first, put there what you load, and leave it "
               "there"}};
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

  /// One expression of a case: what it reads and writes.
  struct Evaluation {
    std::string expression;
    ElementType type;
    std::string inputs;  ///< behind their numbers in the names of its inputs
    std::string out;
  };

  static std::string input_name(std::int64_t number) {
    return std::string("x").append(std::to_string(number));
  }

  static void require_inputs(const std::string& expression, std::int64_t inputs) {
    const auto used = PostfixExpression(expression).used_inputs();
    if (!used.empty() && used.back() >= inputs) {
      throw std::invalid_argument("`expression` uses an input that is not among `inputs`");
    }
  }

  static Evaluation judged(const Problem& problem) {
    return {text(problem.parameters, "expression"), storage_type(problem.parameters), "", "out"};
  }

  /// The expressions of `before`.
  static std::vector<Evaluation> others(const Problem& problem) {
    const std::string& own = text(problem.parameters, "type");
    const std::string& type = text(problem.parameters, "before_type");
    Values typed = problem.parameters;
    typed["type"] = type;
    std::vector<Evaluation> found;
    std::istringstream lines(text(problem.parameters, "before"));
    for (std::string line; std::getline(lines, line);) {
      if (line.empty()) continue;
      found.push_back({line, storage_type(typed), type == own ? "" : " before",
                       message("out before ", found.size() + 1)});
    }
    return found;
  }

  static std::vector<Expected> expected_of(const Problem& problem,
                                           const ExpressionRule& rule = {}) {
    std::vector<Expected> all{evaluated(problem, rule)};
    for (const Evaluation& other : others(problem)) all.push_back(evaluated(problem, other, rule));
    return all;
  }

  static void add_others(Problem& problem, Random& random) {
    const std::int64_t inputs = integer(problem.parameters, "inputs", 0);
    const std::int64_t count = integer(problem.parameters, "count");
    bool has_inputs = false;
    for (const Evaluation& other : others(problem)) {
      require_inputs(other.expression, inputs);
      for (std::int64_t i = 0; i < inputs && !other.inputs.empty() && !has_inputs; ++i) {
        problem.tensors.push_back(
            drawn(input_name(i) + other.inputs, other.type, Role::input, {count},
                  [&] { return static_cast<double>(random() >> 11) * 0x1p-53 * 4 - 2; }));
      }
      has_inputs = true;
      problem.tensors.push_back(output(other.out, other.type, {count}));
    }
  }

  /// What comes out where a cache takes one expression of a case for another.
  static void add_other_kernels(const Problem& problem, Mistakes& mistakes) {
    std::vector<Evaluation> all = others(problem);
    if (all.empty()) return;
    all.push_back(judged(problem));
    const std::vector<Expected> right = expected_of(problem);
    for (std::size_t late = 1; late < all.size(); ++late) {
      for (std::size_t early = 0; early < late; ++early) {
        Evaluation mixed = all[late];
        if (mixed.type != all[early].type) continue;  // a kernel of the other type's elements
        mixed.expression = all[early].expression;
        // In the order of expect().
        std::vector<Expected> outputs = right;
        outputs[late == all.size() - 1 ? 0 : late + 1] = evaluated(problem, mixed, {});
        mistakes.add("RL0518", "the kernel of another expression was taken from the cache",
                     "the key of cache.kernels has to tell any two expressions apart: by each "
                     "node's operation, operands, input and constant, and by the storage. The "
                     "kernel's source does",
                     std::move(outputs));
      }
    }
  }

  static Expected evaluated(const Problem& problem, const ExpressionRule& rule) {
    return evaluated(problem, judged(problem), rule);
  }

  static Expected evaluated(const Problem& problem, const Evaluation& what,
                            const ExpressionRule& rule) {
    const PostfixExpression expression(what.expression, rule);
    std::vector<std::vector<double>> inputs;
    for (std::int64_t i = 0; i < integer(problem.parameters, "inputs", 0); ++i) {
      const std::string name = input_name(i) + what.inputs;
      const auto found = std::ranges::find(problem.tensors, name, &Tensor::name);
      inputs.push_back(all_that_is_there(*found));
    }
    Computed computed;
    std::vector<double> element(inputs.size());
    const auto count = static_cast<std::size_t>(integer(problem.parameters, "count"));
    constexpr std::size_t kMostIfVast = 20'000;
    const std::size_t affordable = kMostNodes / std::max<std::size_t>(1, expression.nodes());
    std::vector<std::size_t> index = selected_elements(
        problem, what.out, problem.vast ? std::min(affordable, kMostIfVast) : affordable);
    for (const std::size_t i : listed(index, count)) {
      for (std::size_t k = 0; k < inputs.size(); ++k) element[k] = inputs[k][i % inputs[k].size()];
      const Approximate result = expression.evaluate(element);
      computed.value.push_back(result.value);
      computed.error.push_back(result.error);
    }
    Expected expected = stored(what.out, what.type, std::move(computed));
    expected.index = std::move(index);
    return expected;
  }
};

ROOFLAB_ORACLE("fuser", FuserOracle)

}  // namespace
}  // namespace rooflab

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/known_mistakes.h"
#include "labs/oracle_support/layer_weights.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/rounding.h"
#include "labs/oracle_support/tensors.h"
#include "labs/part4-fusion/oracle/decoder.h"

namespace rooflab {
namespace {

using Complaints = std::vector<Complaint>;

struct GraphCase {
  DecoderSizes sizes;
  std::int64_t steps, first_position;
  ElementType type;
};

GraphCase read_case(const Values& parameters) {
  const GraphCase c = {{integer(parameters, "batch"), integer(parameters, "hidden"),
                        integer(parameters, "intermediate"), integer(parameters, "query_heads"),
                        integer(parameters, "key_value_heads"), integer(parameters, "head_dim", 2),
                        integer(parameters, "capacity")},
                       integer(parameters, "steps"),
                       integer(parameters, "first_position", 0),
                       storage_type(parameters)};
  if (c.sizes.query_heads % c.sizes.key_value_heads != 0 || c.sizes.head_dim % 2 != 0) {
    throw std::invalid_argument(
        "`query_heads` must be a multiple of `key_value_heads`, and `head_dim` even");
  }
  if (c.first_position + c.steps > c.sizes.capacity) {
    throw std::invalid_argument("`capacity` must be at least `first_position` + `steps`");
  }
  return c;
}

/// How steps may see the wrong things. The defaults are right.
struct StepRule {
  bool first_input = false;     ///< each step reads the first one's token
  bool no_input = false;        ///< each step reads the zeros of a fresh buffer
  bool first_position = false;  ///< each step stands where the first one does
  bool no_position = false;     ///< each step stands at 0
  enum class Output { own, before, last } output = Output::own;  ///< whose result a step keeps
};

/// Runs the steps of a problem.
class Decoding {
 public:
  Decoding(const Problem& problem, const StepRule& rule)
      : problem_(problem),
        rule_(rule),
        case_(read_case(problem.parameters)),
        history_({widened(problem, "keys"), widened(problem, "values")}) {
    for (const WeightShape& weight : layer_weight_shapes(case_.sizes)) {
      weights_[weight.name] = widened(problem, weight.name);
    }
    weights_["cosines"] = widened(problem, "cosines");
    weights_["sines"] = widened(problem, "sines");
  }

  std::vector<Expected> run() {
    const DecoderHistory before = history_;
    const Numbers inputs = widened(problem_, "inputs");
    const auto size = static_cast<std::ptrdiff_t>(case_.sizes.batch * case_.sizes.hidden);
    std::vector<Numbers> results;
    for (std::ptrdiff_t step = 0; step < case_.steps; ++step) {
      const auto begin = inputs.begin() + (rule_.first_input ? 0 : step * size);
      const Numbers input =
          rule_.no_input ? Numbers(static_cast<std::size_t>(size)) : Numbers(begin, begin + size);
      const std::int64_t position =
          rule_.no_position ? 0 : case_.first_position + (rule_.first_position ? 0 : step);
      results.push_back(decode_token(input, position, case_.sizes, weights_, history_));
    }
    Numbers outputs;
    for (std::size_t step = 0; step < results.size(); ++step) {
      const Numbers kept = kept_of(results, step);
      outputs.insert(outputs.end(), kept.begin(), kept.end());
    }
    return {with_tolerance("outputs", outputs, {}),
            with_tolerance("keys", history_.keys, before.keys),
            with_tolerance("values", history_.values, before.values)};
  }

 private:
  Numbers kept_of(const std::vector<Numbers>& results, std::size_t step) const {
    if (rule_.output == StepRule::Output::last) return results.back();
    if (rule_.output == StepRule::Output::own) return results[step];
    return step == 0 ? Numbers(results[0].size()) : results[step - 1];
  }

  /// Values that no step has touched are exact; `untouched` holds what they were.
  Expected with_tolerance(const std::string& name, const Numbers& values,
                          const Numbers& untouched) const {
    Expected expected{name, values, Numbers(values.size())};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool is_as_before = !untouched.empty() && values[i] == untouched[i];
      expected.tolerance[i] = is_as_before ? 0 : unit() * (1 + std::abs(values[i]));
    }
    return expected;
  }

  /// What a value of size 1 may be off by after some forty roundings to the storage type, one after
  /// another, and the longest sum in fp32. Norms keep all values of a layer around 1.
  double unit() const {
    constexpr double kRoundings = 48;
    const auto depth = static_cast<double>(std::max(case_.sizes.hidden, case_.sizes.intermediate));
    return kRoundings * half_ulp(case_.type, 1) + 8 * std::sqrt(depth) * kFloat32Unit;
  }

  const Problem& problem_;
  StepRule rule_;
  GraphCase case_;
  DecoderHistory history_;
  DecoderNumbers weights_;
};

std::int64_t calls_of(const simgpu::Activity& activity, std::string_view prefix) {
  std::uint64_t sum = 0;
  for (const auto& [function, count] : activity.api_calls) {
    if (function.starts_with(prefix)) sum += count;
  }
  return static_cast<std::int64_t>(sum);
}

/// decode_steps of graph.h. Parameters: batch, hidden, intermediate, query_heads, key_value_heads,
/// head_dim, capacity, steps, first_position, type.
class GraphOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const GraphCase c = read_case(parameters);
    Random random(seed);
    Problem problem{parameters, {}};
    const auto add = [&](const char* name, Role role, std::vector<std::int64_t> shape,
                         const Numbers& values) {
      problem.tensors.push_back(filled(name, c.type, role, std::move(shape), values));
    };
    const std::int64_t tokens = c.steps * c.sizes.batch;
    add("inputs", Role::input, {c.steps, c.sizes.batch, c.sizes.hidden},
        normal_values(tokens * c.sizes.hidden, 1, random));
    std::int64_t position = c.first_position;
    problem.tensors.push_back(drawn("positions", ElementType::int32, Role::input, {c.steps},
                                    [&] { return static_cast<double>(position++); }));
    for (const WeightShape& weight : layer_weight_shapes(c.sizes)) {
      // Norms lie around 1, and projections keep the size of what they project.
      const bool is_norm = weight.in == 0;
      Numbers values =
          normal_values(weight.out * std::max<std::int64_t>(1, weight.in),
                        is_norm ? 0.3 : 1 / std::sqrt(static_cast<double>(weight.in)), random);
      if (is_norm) std::ranges::for_each(values, [](double& value) { value += 1; });
      add(weight.name, Role::input,
          is_norm ? std::vector{weight.out} : std::vector{weight.out, weight.in}, values);
    }
    constexpr double kTheta = 10000;
    const RotationTables tables = rotation_tables(c.sizes.capacity, c.sizes.head_dim, kTheta);
    add("cosines", Role::input, {c.sizes.capacity, c.sizes.head_dim}, tables.cosines);
    add("sines", Role::input, {c.sizes.capacity, c.sizes.head_dim}, tables.sines);
    // Before the first step's position it is the text so far; behind, what was left there.
    const std::vector<std::int64_t> shape{c.sizes.batch, c.sizes.key_value_heads, c.sizes.capacity,
                                          c.sizes.head_dim};
    const std::int64_t slots =
        c.sizes.batch * c.sizes.key_value_heads * c.sizes.capacity * c.sizes.head_dim;
    add("keys", Role::in_out, shape, normal_values(slots, 1, random));
    add("values", Role::in_out, shape, normal_values(slots, 1, random));
    problem.tensors.push_back(output("outputs", c.type, {c.steps, c.sizes.batch, c.sizes.hidden}));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return Decoding(problem, {}).run();
  }

  Work work(const Values& parameters) const override {
    const GraphCase c = read_case(parameters);
    double weights = 0;
    for (const WeightShape& weight : layer_weight_shapes(c.sizes)) {
      weights += static_cast<double>(weight.out * weight.in);
    }
    const auto batch = static_cast<double>(c.sizes.batch);
    const auto steps = static_cast<double>(c.steps);
    const auto queries = static_cast<double>(c.sizes.query_heads * c.sizes.head_dim);
    const auto keys = static_cast<double>(c.sizes.key_value_heads * c.sizes.head_dim);
    // A step at position p sees p + 1 keys.
    const double seen = steps * static_cast<double>(c.first_position + 1) + steps * (steps - 1) / 2;
    Work work;
    const char* peak = c.type == ElementType::float32 ? "fp32" : "fp16_tensor";
    work.flops[peak] = 2 * steps * batch * weights + 4 * batch * queries * seen;
    const double elements = steps * weights + 2 * batch * keys * seen +
                            2 * steps * batch * static_cast<double>(c.sizes.hidden);
    work.compulsory_bytes = static_cast<double>(size_of(c.type)) * elements;
    return work;
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    Mistakes mistakes(expect(problem));
    const auto add = [&](Code code, const char* cause, const char* advice, const StepRule& rule) {
      mistakes.add(code, cause, advice, Decoding(problem, rule).run());
    };
    constexpr const char* kInput =
        "a graph keeps the addresses that it was captured with: copy inputs[i] to step.input() "
        "before each replay, on the same stream";
    constexpr const char* kPosition =
        "the captured kernels read *step.position(): copy positions[i] there before each replay, "
        "on the same stream";
    add("RL0510", "every replay reads the first step's token", kInput, {.first_input = true});
    add("RL0510", "no replay sees a token: step.input() still holds the zeros it was made with",
        kInput, {.no_input = true});
    add("RL0511", "every replay stands at the first step's position", kPosition,
        {.first_position = true});
    add("RL0511", "every replay stands at position 0", kPosition, {.no_position = true});
    add("RL0510", "every replay repeats the first step: its token and its position", kInput,
        {.first_input = true, .first_position = true});
    add("RL0510", "no replay sees its token or its position", kInput,
        {.no_input = true, .no_position = true});
    constexpr const char* kOutput =
        "the next replay overwrites step.output(): copy it to outputs[i] after each replay, on the "
        "same stream";
    add("RL0510", "outputs[i] is the result of the step before", kOutput,
        {.output = StepRule::Output::before});
    add("RL0510", "all outputs are the result of the last step", kOutput,
        {.output = StepRule::Output::last});
    return mistakes.take();
  }

  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    if (!evidence.keeps_records) return {};
    const std::int64_t steps = read_case(problem.parameters).steps;
    const simgpu::Activity& activity = evidence.activity;
    if (const auto complaint = complaint_of_waits(problem.parameters, activity, steps)) {
      return {*complaint};
    }
    if (steps < 3) return {};  // too few to tell habits
    const std::int64_t made = calls_of(activity, "cudaGraphInstantiate");
    const std::int64_t updated = calls_of(activity, "cudaGraphExecUpdate");
    if (made + updated >= steps) {
      return {{"RL0512",
               "a graph is captured for each step" +
                   Evidence{message(": ", made, " were instantiated and ", updated, " updated in ",
                                    steps, " steps")},
               "capture and instantiate before the loop: that takes longer than launching the "
               "kernels, and pays when the graph is replayed often"}};
    }
    return judge_launches(activity, steps);
  }

 private:
  /// Waits, and questions whether the device is done, which a loop makes a wait of.
  static bool is_wait(const std::string& function) {
    constexpr std::string_view kWaits[] = {"cudaDeviceSynchronize", "cudaStreamSynchronize",
                                           "cudaEventSynchronize", "cudaStreamQuery",
                                           "cudaEventQuery"};
    return std::ranges::find(kWaits, function) != std::end(kWaits);
  }

  /// Of a call without any by the student: the adapter's before and behind it, and the grader's.
  static constexpr std::int64_t kOtherWaits = 3;

  static std::int64_t waits_of(const simgpu::Activity& activity) {
    std::int64_t waits = 0;
    for (const auto& [function, count] : activity.api_calls) {
      if (is_wait(function)) waits += static_cast<std::int64_t>(count);
    }
    return waits - kOtherWaits;
  }

  /// How often the host gives the device work and then waits. What it waits for at the end is not
  /// told from the adapter's wait.
  static std::int64_t waits_between_work(const simgpu::Activity& activity) {
    std::int64_t waits = 0;
    bool waited = false;
    for (const simgpu::ApiRecord& call : activity.calls) {
      waits += is_wait(call.name) && !waited ? 1 : 0;
      waited = is_wait(call.name);
    }
    return waits - kOtherWaits;
  }

  /// A wait in each step undoes what the graph is for. A single one breaks a promise of graph.h,
  /// which cases of judges_structure ask for.
  static std::optional<Complaint> complaint_of_waits(const Values& parameters,
                                                     const simgpu::Activity& activity,
                                                     std::int64_t steps) {
    const std::int64_t between = waits_between_work(activity);
    if (steps >= 3 && between >= steps - 1) {
      return Complaint{"RL0513",
                       "the host waits for the device in each step" +
                           Evidence{message(": ", between, " times in ", steps, " steps")},
                       "replays and copies of one stream run in order without the host: do not "
                       "synchronise, nor ask whether the device is done"};
    }
    if (waits_of(activity) <= 0 || !judges_structure(parameters)) return std::nullopt;
    return Complaint{"RL0513", "the host waits for the device before the function returns",
                     "decode_steps returns without waiting: whoever needs the outputs waits for "
                     "the stream, and has other work for the host until then"};
  }

  static Complaints judge_launches(const simgpu::Activity& activity, std::int64_t steps) {
    std::set<std::uint64_t> graphs;
    std::int64_t beside = 0;
    std::int64_t in_graphs = 0;
    // Empty kernels would make a graph of many nodes, beside which a step's own count as few.
    double work_beside = 0;
    double work_in_graphs = 0;
    for (const simgpu::KernelRecord& kernel : activity.kernels) {
      const bool is_in_graph = kernel.graph_launch != 0;
      (is_in_graph ? in_graphs : beside) += 1;
      (is_in_graph ? work_in_graphs : work_beside) +=
          static_cast<double>(kernel.counters.thread_instructions);
      if (is_in_graph) graphs.insert(kernel.graph_launch);
    }
    const auto replays = static_cast<std::int64_t>(graphs.size());
    constexpr const char* kAdvice =
        "capture step.launch(stream) once, and launch the executable graph once for each step";
    if (replays == 0) {
      return {{"RL0514",
               "no graph is replayed" +
                   Evidence{message(": ", beside, " kernels were launched one by one")},
               kAdvice}};
    }
    // A step that runs once by itself, to warm up, does no harm.
    const std::int64_t kernels_of_a_step = in_graphs / replays;
    const double work_of_a_step = work_in_graphs / static_cast<double>(replays);
    if (2 * beside > 3 * kernels_of_a_step || 2 * work_beside > 3 * work_of_a_step ||
        replays < steps - 1) {
      return {{"RL0514",
               "kernels are launched beside the graph" +
                   Evidence{message(": ", beside, " were, and it was replayed ", replays,
                                    " times for ", steps, " steps")},
               kAdvice}};
    }
    return {};
  }
};

ROOFLAB_ORACLE("graph", GraphOracle)

}  // namespace
}  // namespace rooflab

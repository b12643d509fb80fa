#include <algorithm>
#include <cmath>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/rounding.h"
#include "labs/oracle_support/selection.h"
#include "labs/part2-roofline/oracle/inputs.h"

namespace rooflab {
namespace {

/// Elements of one chunk, as in peaks.h.
constexpr std::int64_t kChunk = 4096;
/// Steps of chains that are computed again for one output: a part of a second.
constexpr std::int64_t kMostSteps = std::int64_t{1} << 26;
constexpr std::size_t kLeastCompared = 10'000;
constexpr std::size_t kMostVastSums = 2'000;

/// fma_peak and sum_chunks of peaks.h. Parameters: function and n; for fma_peak also steps, a and
/// b.
class PeaksOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const std::int64_t n = integer(parameters, "n");
    Random random(seed);
    Problem problem{parameters, {}};
    problem.vast = is_vast(parameters);
    const auto draw = [&] { return uniform(random, -4, 4); };
    constexpr ElementType kType = ElementType::float32;
    problem.tensors.push_back(
        problem.vast ? repeated(drawn("in", kType, Role::input, {vast_period(kType)}, draw), n)
                     : drawn_input("in", n, random, draw));
    problem.tensors.push_back(is_fma(parameters) ? vector_output("out", n)
                                                 : vector_output("sums", chunks(n)));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    return {is_fma(problem.parameters)
                ? chains(problem, as_it_should)
                : sums(problem, [](std::int64_t, std::int64_t) { return true; })};
  }

  Work work(const Values& parameters) const override {
    const auto n = static_cast<double>(integer(parameters, "n"));
    if (is_fma(parameters)) {
      const auto steps = static_cast<double>(integer(parameters, "steps", 0));
      return {{{"fp32", 2 * n * steps}}, sizeof(float) * 2 * n};
    }
    const auto outputs = static_cast<double>(chunks(integer(parameters, "n")));
    return {{{"fp32", n - outputs}}, sizeof(float) * (n + outputs)};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    if (problem.vast) return {};  // other cases know them
    return is_fma(problem.parameters) ? chain_mistakes(problem) : sum_mistakes(problem);
  }

 private:
  /// One chain: x_0, the number of steps, and the factors.
  struct Chain {
    float x;
    std::int64_t steps;
    float a, b;
  };

  static bool is_fma(const Values& parameters) {
    return text(parameters, "function") == "fma_peak";
  }
  static std::int64_t chunks(std::int64_t n) { return (n + kChunk - 1) / kChunk; }

  static float fused(float a, float x, float b) { return std::fma(a, x, b); }
  static float rounded_twice(float a, float x, float b) {
    volatile float product = a * x;  // keeps the compiler from fusing
    return product + b;
  }

  static float added_first(float a, float x, float b) { return a * (x + b); }

  template <float (*kStep)(float, float, float)>
  static float run(const Chain& chain) {
    float x = chain.x;
    for (std::int64_t i = 0; i < chain.steps; ++i) x = kStep(chain.a, x, chain.b);
    return x;
  }

  static float as_it_should(const Chain& chain) { return run<fused>(chain); }

  /// fp32 fused multiply-adds round in one way only: no tolerance.
  template <typename Compute>
  static Expected chains(const Problem& problem, const Compute& compute) {
    const std::span<const float> in = floats(tensor(problem, "in"));
    Chain chain{0, integer(problem.parameters, "steps", 0),
                static_cast<float>(real(problem.parameters, "a")),
                static_cast<float>(real(problem.parameters, "b"))};
    const auto count = static_cast<std::size_t>(integer(problem.parameters, "n"));
    const auto affordable =
        static_cast<std::size_t>(kMostSteps / std::max<std::int64_t>(1, chain.steps));
    Expected out{
        "out",
        {},
        {},
        selected_elements(problem, "out", std::clamp(affordable, kLeastCompared, kMostCompared))};
    for (const std::size_t i : listed(out.index, count)) {
      chain.x = in[i % in.size()];  // a vast input repeats itself
      out.value.push_back(compute(chain));
    }
    out.tolerance.assign(out.value.size(), 0.0);
    return out;
  }

  static std::vector<KnownMistake> chain_mistakes(const Problem& problem) {
    std::vector<KnownMistake> mistakes;
    const auto add = [&](Code code, const char* cause, const char* advice,
                         float (*compute)(const Chain&)) {
      mistakes.push_back({code, cause, advice, {chains(problem, compute)}});
    };
    constexpr const char* kConstant =
        "load x from in[i]: of a chain that starts with a constant the compiler may do every step "
        "itself, once, and the kernel then measures nothing";
    add("RL0447", "the chains start at 0 instead of in[i]", kConstant, [](const Chain& c) {
      return as_it_should({0, c.steps, c.a, c.b});
    });
    add("RL0447", "the chains start at 1 instead of in[i]", kConstant, [](const Chain& c) {
      return as_it_should({1, c.steps, c.a, c.b});
    });
    add("RL0447", "out holds the inputs: no step was taken",
        "does the loop run `steps` times, and does its result reach out?",
        [](const Chain& c) { return c.x; });
    add("RL0448", "one step is missing from each chain", "the loop runs while step < steps",
        [](const Chain& c) {
          return as_it_should({c.x, c.steps - 1, c.a, c.b});
        });
    add("RL0448", "each chain takes one step too many", "the loop runs while step < steps",
        [](const Chain& c) {
          return as_it_should({c.x, c.steps + 1, c.a, c.b});
        });
    for (const std::int64_t unroll : {4, 8, 16, 32, 64}) add_lost_steps(problem, unroll, mistakes);
    add("RL0449", "each step rounds twice: a multiplication and an addition",
        "fmaf(a, x, b) is one instruction with one rounding, and two operations at the price of "
        "one",
        [](const Chain& c) { return run<rounded_twice>(c); });
    add("RL0449", "b is added before the multiplication: each step is a * (x + b)",
        "a step is a * x + b, without a parenthesis",
        [](const Chain& c) { return run<added_first>(c); });
    allow_contraction(problem, mistakes.back().outputs.front());
    add("RL0449", "a and b are swapped: each step is b * x + a", "the factor of x is a",
        [](const Chain& c) {
          return as_it_should({c.x, c.steps, c.b, c.a});
        });
    return mistakes;
  }

  /// A compiler that sees a multiplication and the addition of the next step may make one
  /// instruction of them, which rounds once: each step may differ by a rounding.
  static void allow_contraction(const Problem& problem, Expected& out) {
    const auto steps = static_cast<double>(integer(problem.parameters, "steps", 0));
    const double b = std::abs(real(problem.parameters, "b"));
    for (std::size_t i = 0; i < out.value.size(); ++i) {
      out.tolerance[i] = steps * kFloat32Unit * (std::abs(out.value[i]) + b);
    }
  }

  /// Unrolled by hand without a loop for the rest.
  static void add_lost_steps(const Problem& problem, std::int64_t unroll,
                             std::vector<KnownMistake>& mistakes) {
    const auto whole = [unroll](const Chain& c) {
      return as_it_should({c.x, c.steps / unroll * unroll, c.a, c.b});
    };
    mistakes.push_back({"RL0448",
                        "the last steps % " + std::to_string(unroll) + " steps are missing",
                        "a loop that takes several steps at once needs a second one for the rest",
                        {chains(problem, whole)}});
  }

  /// Sums in fp64 over the positions within a chunk that `keep` takes.
  template <typename Keep>
  static Expected sums(const Problem& problem, const Keep& keep) {
    const std::span<const float> in = floats(tensor(problem, "in"));
    const std::int64_t n = integer(problem.parameters, "n");
    const auto count = static_cast<std::size_t>(chunks(n));
    // A vast input repeats itself.
    const std::size_t most = problem.vast ? kMostVastSums : kMostCompared / 4;
    Expected sums{"sums", {}, {}, selected_elements(problem, "sums", most)};
    for (const std::size_t chunk : listed(sums.index, count)) {
      const std::int64_t first = static_cast<std::int64_t>(chunk) * kChunk;
      const std::int64_t length = std::min(kChunk, n - first);
      double sum = 0;
      double magnitude = 0;
      for (std::int64_t i = 0; i < length; ++i) {
        const double x = in[static_cast<std::size_t>(first + i) % in.size()];
        if (keep(i, length)) sum += x;
        magnitude += std::abs(x);
      }
      sums.value.push_back(sum);
      sums.tolerance.push_back(sum_tolerance(length, kFloat32Unit, magnitude));
    }
    return sums;
  }

  static std::vector<KnownMistake> sum_mistakes(const Problem& problem) {
    std::vector<KnownMistake> mistakes;
    const auto add = [&](Code code, const char* cause, const char* advice, auto keep) {
      mistakes.push_back({code, cause, advice, {sums(problem, keep)}});
    };
    add("RL0410", "sums holds only zeros", "does the sum reach sums, and does the loop run at all?",
        [](std::int64_t, std::int64_t) { return false; });
    constexpr std::int64_t kWarpSize = 32;
    // Of elements that a thread takes side by side, in whole chunks and in the last, partial one.
    struct Widths {
      std::int64_t whole, partial;
      std::int64_t of(std::int64_t length) const { return length == kChunk ? whole : partial; }
    };
    for (const Widths width : {Widths{1, 1}, Widths{4, 4}, Widths{4, 1}}) {
      for (const std::int64_t threads : {64, 128, 256, 512, 1024}) {
        const auto thread = [=](std::int64_t i, std::int64_t length) {
          return i / width.of(length) % threads;
        };
        add("RL0418", "only the sum of the first warp of each block reaches sums",
            "each warp's lane 0 puts its sum into shared memory; one warp adds those up",
            [=](std::int64_t i, std::int64_t length) { return thread(i, length) < kWarpSize; });
        add("RL0418", "only the sum of one thread of each block reaches sums",
            "add the sums of all threads: within a warp by shuffles, then across the warps",
            [=](std::int64_t i, std::int64_t length) { return thread(i, length) == 0; });
      }
      add("RL0418", "only the sums of the lanes 0 reach sums",
          "halve the distance of the shuffle from 16 down to and including 1, then lane 0 holds "
          "all",
          [=](std::int64_t i, std::int64_t length) {
            return i / width.of(length) % kWarpSize == 0;
          });
    }
    return mistakes;
  }
};

ROOFLAB_ORACLE("peaks", PeaksOracle)

}  // namespace
}  // namespace rooflab

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/selection.h"
#include "labs/part3-decoder/oracle/operations.h"
#include "labs/part3-decoder/oracle/tensors.h"

namespace rooflab {

Computed rope(const Numbers& x, const Numbers& positions, const RopeShape& shape,
              const RopeRule& rule) {
  // theta^(-2i/d) comes from powf or exp2f, some 16 roundings off in fp32; the angle is a product
  // of it, and sine and cosine move by as much as the angle does.
  constexpr double kAngleRoundings = 32;
  constexpr double kProductRoundings = 4;
  const std::int64_t half = shape.head_dim / 2;
  const double width = rule.width > 0 ? rule.width : static_cast<double>(shape.head_dim);
  Computed y{x, Numbers(x.size())};
  for (std::int64_t row = 0; row < shape.batch * shape.length * shape.heads; ++row) {
    const auto token = static_cast<std::size_t>(row / shape.heads);
    const double position = positions[token % positions.size()];
    if (rule.first_head_alone && row % shape.heads != 0) continue;
    for (std::int64_t i = 0; i < half; ++i) {
      const std::int64_t first = row * shape.head_dim + (rule.interleaved ? 2 * i : i);
      const std::int64_t second = rule.interleaved ? first + 1 : first + half;
      const double angle =
          position * std::pow(rule.theta, -2 * static_cast<double>(i) / width) * rule.sign;
      y.value[first] = x[first] * std::cos(angle) - x[second] * std::sin(angle);
      const double partner = rule.reads_what_it_wrote ? y.value[first] : x[first];
      y.value[second] = x[second] * std::cos(angle) + partner * std::sin(angle);
      const double roundings = kAngleRoundings * std::abs(angle) + kProductRoundings;
      const double error = roundings * kFloat32Unit * (std::abs(x[first]) + std::abs(x[second]));
      y.error[first] = error;
      y.error[second] = error;
    }
  }
  return y;
}

namespace {

/// x (batch, length, heads, head_dim) turned in place. A single token stands at first_position,
/// several at some of the positions from there on, in an order that is drawn. So is theta where a
/// case gives none.
class RopeOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const RopeShape s = shape(parameters);
    const ElementType type = storage_type(parameters);
    Random random(seed);
    Problem problem{parameters, {}};
    draw_default(problem.parameters, "theta", 5e3, 2e6, seed);
    problem.vast = is_vast(parameters);
    const std::vector<std::int64_t> whole = {s.batch, s.length, s.heads, s.head_dim};
    problem.tensors.push_back(
        problem.vast
            ? repeated(random_tensor("x", type, Role::in_out, {vast_period(type)}, 1, random),
                       s.batch * s.length * s.heads * s.head_dim)
            : random_tensor("x", type, Role::in_out, whole, 1, random));
    Tensor positions =
        filled("positions", ElementType::int32, Role::input, {s.length},
               scattered(integer(parameters, "first_position", 0), s.length, random));
    problem.tensors.push_back(problem.vast ? in_whole_pages(std::move(positions))
                                           : std::move(positions));
    return problem;
  }

  std::vector<Expected> expect(const Problem& problem) const override {
    if (problem.vast) return {some_heads(problem)};
    return {turned(problem, widened(problem, "positions"), right_rule(problem))};
  }

  Work work(const Values& parameters) const override {
    const RopeShape s = shape(parameters);
    const auto elements = static_cast<double>(s.batch * s.length * s.heads * s.head_dim);
    const auto bytes = static_cast<double>(size_of(storage_type(parameters)));
    const double position_bytes = 4 * static_cast<double>(s.length);
    return {{{"fp32", 3 * elements}}, bytes * 2 * elements + position_bytes};
  }

  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    if (problem.vast) return {};  // other cases know them
    const RopeShape s = shape(problem.parameters);
    const Numbers positions = widened(problem, "positions");
    const RopeRule right = right_rule(problem);
    Mistakes mistakes(expect(problem));
    const auto add = [&](Code code, const char* cause, const char* advice, const Numbers& at,
                         const RopeRule& rule) {
      mistakes.add(code, cause, advice, {turned(problem, at, rule)});
    };
    const auto with = [&](auto change) {
      RopeRule rule = right;
      change(rule);
      return rule;
    };
    add("RL0464", "elements are rotated in pairs of neighbours",
        "element i is rotated with element i + head_dim / 2", positions,
        with([](RopeRule& rule) { rule.interleaved = true; }));
    add("RL0465", "pairs are rotated the wrong way",
        "the first half gets x1 * cos - x2 * sin, the second half x2 * cos + x1 * sin", positions,
        with([](RopeRule& rule) { rule.sign = -1; }));
    add("RL0430", "the second of a pair is rotated with the first one as it is after its rotation",
        "x is rotated in place: load both elements of a pair before you store either", positions,
        with([](RopeRule& rule) { rule.reads_what_it_wrote = true; }));
    add("RL0434", "only the first head is rotated",
        "every head of a token rotates by the same angles: does the loop go over all heads, and "
        "does "
        "the address move on with them?",
        positions, with([](RopeRule& rule) { rule.first_head_alone = true; }));
    add_wrong_positions(s, positions, right, add);
    // Of few pairs, a wrong exponent makes the same angles as another theta.
    constexpr std::int64_t kTellingHead = 8;
    for (const double theta : {10000.0, 1000000.0}) {
      if (s.head_dim < kTellingHead) break;
      add("RL0467", "the angles belong to another theta",
          "use the theta that is passed: local and global layers have different ones", positions,
          with([=](RopeRule& rule) { rule.theta = theta; }));
    }
    // theta^0 = 1, as of any other theta of 1.
    add("RL0468", "the exponent of theta is 0 for every pair: all turn by the position itself",
        "2 * i / head_dim of whole numbers is 0, since i is less than half of head_dim: divide as "
        "float",
        positions, with([](RopeRule& rule) { rule.theta = 1; }));
    const auto head_dim = static_cast<double>(s.head_dim);
    for (const double width :
         {head_dim * static_cast<double>(s.heads), head_dim / 2, head_dim * 2}) {
      add("RL0468", "the exponent of theta is divided by the wrong width",
          "pair i rotates by position * theta^(-2 i / head_dim), i from 0 to head_dim / 2 - 1",
          positions, with([=](RopeRule& rule) { rule.width = width; }));
    }
    return mistakes.take();
  }

 private:
  static RopeShape shape(const Values& parameters) {
    const RopeShape shape{integer(parameters, "batch"), integer(parameters, "length"),
                          integer(parameters, "heads"), integer(parameters, "head_dim", 2)};
    if (shape.head_dim % 2 != 0) {
      throw std::invalid_argument("`head_dim` must be even; correct part.toml");
    }
    return shape;
  }

  /// `count` positions from `first` on, none twice, in any order: of twice as many where the text
  /// is not at its end.
  static Numbers scattered(std::int64_t first, std::int64_t count, Random& random) {
    constexpr std::int64_t kMostPositions = (std::int64_t{1} << 17) + 1;  // as rope.h says
    const std::int64_t gaps =
        std::clamp<std::int64_t>(kMostPositions - first - count, 0, count - 1);
    Numbers positions(static_cast<std::size_t>(count + gaps));
    std::iota(positions.begin(), positions.end(), static_cast<double>(first));
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      std::swap(positions[i], positions[i + random() % (positions.size() - i)]);
    }
    positions.resize(static_cast<std::size_t>(count));
    return positions;
  }

  static RopeRule right_rule(const Problem& problem) {
    RopeRule rule;
    rule.theta = real(problem.parameters, "theta");
    return rule;
  }

  /// Some heads of a vast problem, each turned by its own position.
  static Expected some_heads(const Problem& problem) {
    constexpr std::int64_t kMostHeads = 400;
    const RopeShape s = shape(problem.parameters);
    const std::vector<std::int64_t> heads = selected_rows(problem, "x", s.head_dim, kMostHeads);
    const std::vector<std::size_t> index = elements_of_rows(heads, s.head_dim);
    const Numbers positions = widened(problem, "positions");
    Numbers of_heads;
    for (const std::int64_t head : heads) of_heads.push_back(positions[head / s.heads % s.length]);
    const RopeShape alone{1, std::ssize(heads), 1, s.head_dim};
    Expected x =
        stored("x", storage_type(problem.parameters),
               rope(widened(tensor(problem, "x"), index), of_heads, alone, right_rule(problem)));
    x.index = index;
    return x;
  }

  static Expected turned(const Problem& problem, const Numbers& positions, const RopeRule& rule) {
    return stored("x", storage_type(problem.parameters),
                  rope(widened(problem, "x"), positions, shape(problem.parameters), rule));
  }

  template <typename Add>
  static void add_wrong_positions(const RopeShape& s, const Numbers& positions,
                                  const RopeRule& right, const Add& add) {
    constexpr Code kCode = "RL0466";
    constexpr const char* kAdvice =
        "token t of a call stands at positions[t]: they start anywhere once there is a cache, and "
        "need not follow each other";
    Numbers from_zero = positions;
    Numbers one_late = positions;
    Numbers consecutive = positions;
    for (std::size_t t = 0; t < positions.size(); ++t) {
      from_zero[t] = static_cast<double>(t);
      one_late[t] += 1;
      consecutive[t] = positions.front() + static_cast<double>(t);
    }
    add(kCode, "positions are counted from 0 in each call", kAdvice, from_zero, right);
    add(kCode, "positions are counted from 1", kAdvice, one_late, right);
    add(kCode, "tokens are taken to stand side by side from the first one on", kAdvice, consecutive,
        right);
    add(kCode, "every token is rotated as the first one of the call is", kAdvice,
        Numbers(positions.size(), positions.front()), right);
    // A flat index over batch and length, as if the batch were one long sequence.
    if (s.batch > 1) {
      Numbers flat;
      for (std::int64_t t = 0; t < s.batch * s.length; ++t) {
        flat.push_back(positions.front() + static_cast<double>(t));
      }
      add(kCode, "sequences of a batch are numbered on instead of each having the same positions",
          kAdvice, flat, right);
    }
  }
};

ROOFLAB_ORACLE("rope", RopeOracle)

}  // namespace
}  // namespace rooflab

#include "labs/part5-flash-attention/oracle/attention_case.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/selection.h"
#include "labs/oracle_support/tensors.h"

namespace rooflab {
namespace {

double real_or(const Values& parameters, const std::string& name, double fallback) {
  return parameters.contains(name) ? real(parameters, name) : fallback;
}

std::int64_t integer_or(const Values& parameters, const std::string& name, std::int64_t fallback) {
  return parameters.contains(name) ? integer(parameters, name, 0) : fallback;
}

/// Normal values about `mean`.
Tensor about(double mean, const std::string& name, ElementType type,
             std::vector<std::int64_t> shape, double deviation, Random& random) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  Numbers values = normal_values(count, deviation, random);
  for (double& value : values) value += mean;
  return filled(name, type, Role::input, std::move(shape), values);
}

/// On tensor cores, the weights are rounded to the storage type on their way to the values.
void set_weight_rounding(ElementType type, AttentionRule& rule) {
  if (type == ElementType::bfloat16) rule.weight_unit = 0x1p-8;
  if (type == ElementType::float16) {
    rule.weight_unit = 0x1p-11;
    rule.least_weight_move = 0x1p-25;  // half the smallest number of the type
  }
}

const char* peak_of(ElementType type) {
  if (type == ElementType::bfloat16) return "bf16_tensor";
  return type == ElementType::float16 ? "fp16_tensor" : "fp32";
}

}  // namespace

AttentionCase AttentionCase::read(const Values& parameters, bool has_log_sum_exp) {
  const AttentionCase c{
      {integer(parameters, "batch"), integer(parameters, "query_heads"),
       integer(parameters, "key_value_heads"), integer(parameters, "query_length"),
       integer(parameters, "key_length"), integer(parameters, "head_dim")},
      {integer(parameters, "causal", 0) != 0, integer_or(parameters, "window", 0)},
      storage_type(parameters),
      real_or(parameters, "score_spread", 2),
      real_or(parameters, "score_mean", 0),
      real_or(parameters, "value_mean", 0),
      real_or(parameters, "scale", 0),
      has_log_sum_exp};
  if (c.shape.query_heads % c.shape.key_value_heads != 0) {
    throw std::invalid_argument("`query_heads` must be a multiple of `key_value_heads`");
  }
  if (c.mask.window > 0 && !c.mask.causal) {
    throw std::invalid_argument("a `window` needs `causal = 1`");
  }
  if (c.score_mean > 0) throw std::invalid_argument("`score_mean` must not be above 0");
  return c;
}

std::int64_t AttentionCase::pairs() const {
  std::int64_t pairs = 0;
  for (std::int64_t i = 0; i < shape.query_length; ++i) pairs += mask.keys(i, shape).count();
  return pairs * shape.batch * shape.query_heads;
}

std::int64_t AttentionCase::score_count() const { return shape.rows() * shape.key_length; }

Problem AttentionCase::problem(const Values& parameters, std::uint64_t seed) const {
  Random random(seed);
  const AttentionShape& s = shape;
  const std::vector<std::int64_t> queries = {s.batch, s.query_heads, s.query_length, s.head_dim};
  const std::vector<std::int64_t> keys = {s.batch, s.key_value_heads, s.key_length, s.head_dim};
  Problem problem{parameters, {}};
  const double by = draw_attention_scale(problem.parameters, "scale", s.head_dim, seed);
  const auto depth = static_cast<double>(s.head_dim);
  // Scores with a mean come from a part of q and k that all have in common.
  const double common = std::sqrt(-score_mean / (by * depth));
  const double deviation = score_spread / (by * std::sqrt(depth));
  problem.parameters.try_emplace("window", std::int64_t{0});
  problem.parameters.try_emplace("after", std::string());
  problem.vast = is_vast(parameters);
  const std::int64_t query_elements = s.rows() * s.head_dim;
  if (problem.vast && query_elements > vast_period(type)) {
    problem.tensors.push_back(
        repeated(about(common, "q", type, {vast_period(type)}, deviation, random), query_elements));
  } else {
    Tensor q = about(common, "q", type, queries, deviation, random);
    problem.tensors.push_back(problem.vast ? in_whole_pages(std::move(q)) : std::move(q));
  }
  for (const auto& [name, mean] : {std::pair{"k", -common}, {"v", value_mean}}) {
    problem.tensors.push_back(
        problem.vast ? repeated(about(mean, name, type, {vast_period(type)}, 1, random),
                                s.batch * s.key_value_heads * s.key_length * s.head_dim)
                     : about(mean, name, type, keys, 1, random));
  }
  problem.tensors.push_back(output("out", type, queries));
  if (has_log_sum_exp) {
    problem.tensors.push_back(
        output("log_sum_exp", ElementType::float32, {s.batch, s.query_heads, s.query_length}));
  }
  return problem;
}

AttentionRule AttentionCase::rule() const {
  AttentionRule rule;
  rule.scale = scale;
  rule.mask = mask;
  set_weight_rounding(type, rule);
  return rule;
}

Work AttentionCase::work() const {
  const double flops = 4.0 * static_cast<double>(shape.head_dim) * static_cast<double>(pairs());
  std::int64_t first = shape.key_length;  // of the keys that some query sees
  std::int64_t last = -1;
  for (std::int64_t i = 0; i < shape.query_length; ++i) {
    const KeyRange seen = mask.keys(i, shape);
    if (seen.count() == 0) continue;
    first = std::min(first, seen.first);
    last = std::max(last, seen.last);
  }
  const std::int64_t keys = shape.batch * shape.key_value_heads * KeyRange{first, last}.count();
  const double elements = 2.0 * static_cast<double>((shape.rows() + keys) * shape.head_dim);
  const double log_sum_exps = has_log_sum_exp ? 4.0 * static_cast<double>(shape.rows()) : 0.0;
  // Several queries make a product of matrices, which 16-bit types have tensor cores for.
  const char* peak = shape.query_length > 1 ? peak_of(type) : "fp32";
  return {{{peak, flops}}, static_cast<double>(size_of(type)) * elements + log_sum_exps};
}

std::vector<Expected> AttentionCase::expected(const Problem& problem,
                                              const AttentionRule& rule) const {
  if (problem.vast) return expected_of_vast(problem, rule);
  return expected(problem, rule, widened(problem, "k"), widened(problem, "v"));
}

std::vector<Expected> AttentionCase::expected_of_vast(const Problem& problem,
                                                      const AttentionRule& rule) const {
  const std::vector<std::int64_t> rows = judged_rows(problem);
  Attended attended;
  const auto append = [](const Computed& from, Computed& to) {
    to.value.insert(to.value.end(), from.value.begin(), from.value.end());
    to.error.insert(to.error.end(), from.error.begin(), from.error.end());
  };
  for (const std::int64_t row : rows) {
    const std::int64_t head = row / shape.query_length % shape.query_heads;
    const std::int64_t batch = row / shape.query_length / shape.query_heads;
    const std::int64_t of_keys =
        batch * shape.key_value_heads + head / (shape.query_heads / shape.key_value_heads);
    const KeyRange range = mask.keys(row % shape.query_length, shape);
    std::vector<std::int64_t> keys;
    for (std::int64_t j = range.first; j <= range.last; ++j) {
      keys.push_back(of_keys * shape.key_length + j);
    }
    const auto seen = elements_of_rows(keys, shape.head_dim);
    AttentionRule of_these = rule;
    of_these.mask = {};
    const Attended one =
        attention(widened(tensor(problem, "q"), elements_of_rows({row}, shape.head_dim)),
                  widened(tensor(problem, "k"), seen), widened(tensor(problem, "v"), seen),
                  {1, 1, 1, 1, range.count(), shape.head_dim}, of_these, {0});
    append(one.out, attended.out);
    append(one.log_sum_exp, attended.log_sum_exp);
  }
  std::vector<Expected> outputs = {stored("out", type, std::move(attended.out))};
  outputs[0].index = elements_of_rows(rows, shape.head_dim);
  if (!has_log_sum_exp) return outputs;
  outputs.push_back(stored("log_sum_exp", ElementType::float32, std::move(attended.log_sum_exp)));
  outputs[1].index = elements_of_rows(rows, 1);
  return outputs;
}

std::vector<Expected> AttentionCase::expected(const Problem& problem, const AttentionRule& rule,
                                              const Numbers& keys, const Numbers& values) const {
  const std::vector<std::int64_t> rows = judged_rows(problem);
  Attended attended = attention(widened(problem, "q"), keys, values, shape, rule, rows);
  std::vector<Expected> outputs = {stored("out", type, std::move(attended.out))};
  if (has_log_sum_exp) {
    outputs.push_back(stored("log_sum_exp", ElementType::float32, std::move(attended.log_sum_exp)));
  }
  if (static_cast<std::int64_t>(rows.size()) == shape.rows()) return outputs;
  for (const std::int64_t row : rows) {
    for (std::int64_t i = 0; i < shape.head_dim; ++i) {
      outputs[0].index.push_back(static_cast<std::size_t>(row * shape.head_dim + i));
    }
    if (has_log_sum_exp) outputs[1].index.push_back(static_cast<std::size_t>(row));
  }
  return outputs;
}

std::vector<std::int64_t> AttentionCase::judged_rows(const Problem& problem) const {
  constexpr double kMostProducts = 1e8;  // a part of a second
  constexpr std::int64_t kLeastRows = 64;
  if (problem.vast) return selected_rows(problem, "out", shape.head_dim, kLeastRows);
  const std::int64_t count = shape.rows();
  const double products_of_row = 4.0 * static_cast<double>(shape.head_dim) *
                                 static_cast<double>(pairs()) / static_cast<double>(count);
  const auto affordable = static_cast<std::int64_t>(kMostProducts / std::max(1.0, products_of_row));
  return selected_rows(problem, "out", shape.head_dim, std::max(affordable, kLeastRows));
}

std::uint64_t extra_memory(const AttentionCase& c, const CallEvidence& evidence) {
  const AttentionShape& s = c.shape;
  const std::int64_t keys = s.batch * s.key_value_heads * s.key_length;
  const auto elements = static_cast<std::uint64_t>(2 * (s.rows() + keys) * s.head_dim);
  const auto log_sum_exps = static_cast<std::uint64_t>(c.has_log_sum_exp ? s.rows() : 0);
  const std::uint64_t own = size_of(c.type) * elements + sizeof(float) * log_sum_exps;
  return evidence.activity.peak_allocated - std::min(own, evidence.activity.peak_allocated);
}

std::optional<Complaint> complaint_of_local_memory(const AttentionCase& c, std::int64_t parts,
                                                   const CallEvidence& evidence) {
  constexpr std::uint64_t kSector = 32;
  // Of a row, a thread may keep q and a part of out in arrays of its own, and each element of these
  // takes a whole sector where it is the only thread of its warp: that is twice.
  constexpr std::uint64_t kPerElement = 16 * kSector;
  std::uint64_t touched = 0;
  for (const simgpu::KernelRecord& kernel : evidence.activity.kernels) {
    touched += kSector * kernel.counters.local_touched_sectors;
  }
  const auto elements = static_cast<std::uint64_t>(c.shape.rows() * parts * c.shape.head_dim);
  if (touched <= kPerElement * elements) return std::nullopt;
  return Complaint{
      "RL0529",
      "threads keep more than the state of their rows in local memory, which is device memory" +
          Evidence{message(": they touch ", touched, " bytes of it")},
      "an array that a thread indexes by a number which the compiler does not know lies there: "
      "keep the scores of one tile, and forget them when they are used"};
}

Numbers with_transposed_blocks(const AttentionShape& shape, const Numbers& matrix) {
  constexpr std::int64_t kBlock = 16;
  Numbers transposed(matrix.size());
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t column = at % shape.head_dim;
    const std::int64_t row = at / shape.head_dim % shape.key_length;
    const std::int64_t from_row = row / kBlock * kBlock + column % kBlock;
    const std::int64_t from_column = column / kBlock * kBlock + row % kBlock;
    if (from_row >= shape.key_length) continue;
    const std::int64_t from = at + (from_row - row) * shape.head_dim + from_column - column;
    transposed[i] = matrix[static_cast<std::size_t>(from)];
  }
  return transposed;
}

std::optional<Complaint> complaint_without_tensor_cores(const Work& work,
                                                        const CallEvidence& evidence) {
  return without_tensor_cores(
      work, evidence,
      "load the operands with load_a, load_b and load_b_transposed of fragments.h and multiply "
      "them with multiply_add");
}

std::vector<SpeedRemark> forfeiting(const std::vector<Complaint>& complaints) {
  std::vector<SpeedRemark> remarks;
  for (const Complaint& complaint : complaints) remarks.push_back({complaint, true});
  return remarks;
}

}  // namespace rooflab

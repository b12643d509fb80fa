#include "attention_tests.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your helpers go here: one function that makes a case from its shape saves you the rest.
namespace {

// Numbers from -1 to 1 without a pattern that heads, keys or elements share.
std::vector<float> numbers(std::size_t count, double factor) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(factor * std::sin(0.7 * static_cast<double>(i * i % 1013)));
  }
  return values;
}

// The row of out of one query.
void attend(AttentionCase& test, int b, int query, int head) {
  const int position = test.key_length - test.query_length + query;
  const int first = test.window > 0 ? std::max(0, position - test.window + 1) : 0;
  const int key_head = head / (test.query_heads / test.key_value_heads);
  const int dim = test.head_dim;
  const std::size_t row =
      static_cast<std::size_t>((b * test.query_length + query) * test.query_heads + head) * dim;
  const auto slot = [&](int j) {
    return static_cast<std::size_t>((b * test.key_value_heads + key_head) * test.capacity +
                                    j % test.capacity) *
           dim;
  };
  std::vector<double> scores;
  for (int j = first; j <= position; ++j) {
    double dot = 0;
    for (int d = 0; d < dim; ++d) dot += double{test.q[row + d]} * test.keys[slot(j) + d];
    scores.push_back(test.scale * dot);
  }
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (int d = 0; d < dim; ++d) {
    double out = 0;
    for (int j = first; j <= position; ++j) out += scores[j - first] * test.values[slot(j) + d];
    test.out[row + d] = static_cast<float>(out / sum);
  }
}

// Fills in the arrays of a shape. Scores grow with `factor`.
AttentionCase filled(AttentionCase test, double factor) {
  const std::size_t queries =
      static_cast<std::size_t>(test.batch) * test.query_length * test.query_heads * test.head_dim;
  const std::size_t slots =
      static_cast<std::size_t>(test.batch) * test.key_value_heads * test.capacity * test.head_dim;
  test.q = numbers(queries, factor);
  test.keys = numbers(slots + 7, 1);
  test.keys.erase(test.keys.begin(), test.keys.begin() + 7);
  test.values = numbers(slots + 3, 1);
  test.values.erase(test.values.begin(), test.values.begin() + 3);
  test.out.resize(queries);
  for (int b = 0; b < test.batch; ++b) {
    for (int query = 0; query < test.query_length; ++query) {
      for (int head = 0; head < test.query_heads; ++head) attend(test, b, query, head);
    }
  }
  return test;
}

// Every score of this case is `score`: q and the keys are constant, and out is a mean.
AttentionCase equal_scores(const char* name, int keys, float score) {
  AttentionCase test{.name = name, .key_length = keys, .head_dim = 4, .capacity = keys + 1};
  test.q.assign(4, score / 4);
  test.keys.assign(4 * test.capacity, 1);
  for (int i = 0; i < 4 * test.capacity; ++i) test.values.push_back(static_cast<float>(i));
  for (int d = 0; d < 4; ++d) test.out.push_back(static_cast<float>(2 * (keys - 1) + d));
  return test;
}

}  // namespace
// END SOLUTION

std::vector<AttentionCase> attention_tests() {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("write a first case: one query of zeros sees two keys, and out is a mean");
  return {
      equal_scores("one key, with a score beyond half precision", 1, 1e5F),
      equal_scores("equal scores whose exponentials are all 0", 5, -200),
      filled({.name = "the newest tokens of a text, in a full ring",
              .query_length = 6,
              .key_length = 11,
              .head_dim = 13,
              .capacity = 11,
              .scale = 0.5F},
             1),
      filled({.name = "a whole text in a window",
              .query_length = 9,
              .key_length = 9,
              .capacity = 10,
              .window = 4},
             1),
      filled({.name = "a ring as long as the window, three times around",
              .batch = 2,
              .key_length = 29,
              .capacity = 7,
              .window = 7},
             1),
      filled({.name = "a window of one key", .key_length = 5, .capacity = 6, .window = 1}, 1),
      filled({.name = "heads that share keys",
              .batch = 2,
              .query_length = 2,
              .key_length = 9,
              .query_heads = 6,
              .key_value_heads = 2,
              .capacity = 10},
             1),
      filled({.name = "the largest heads",
              .key_length = 3,
              .query_heads = 2,
              .key_value_heads = 2,
              .head_dim = 64,
              .capacity = 4,
              .scale = 0.25F},
             1),
  };
  // END SOLUTION
}

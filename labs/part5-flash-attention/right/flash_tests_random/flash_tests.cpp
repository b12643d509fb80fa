#include "flash_tests.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>

namespace {

std::vector<float> numbers(int count, int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

bool sees(const FlashCase& test, int query, int key) {
  const int newest = query + test.key_length - test.query_length;
  if (!test.causal) return true;
  return key <= newest && (test.window == 0 || key > newest - test.window);
}

// One row of out and its log_sum_exp, without tiles.
void attend(FlashCase& test, int b, int head, int query) {
  const int dim = test.head_dim;
  const int row = (b * test.query_heads + head) * test.query_length + query;
  const int key_head = head / (test.query_heads / test.key_value_heads);
  const int keys = (b * test.key_value_heads + key_head) * test.key_length;
  double largest = -std::numeric_limits<double>::infinity();
  std::vector<double> scores(test.key_length, largest);
  for (int key = 0; key < test.key_length; ++key) {
    if (!sees(test, query, key)) continue;
    double dot = 0;
    for (int d = 0; d < dim; ++d)
      dot += double{test.q[row * dim + d]} * test.k[(keys + key) * dim + d];
    scores[key] = test.scale * dot;
    largest = std::max(largest, scores[key]);
  }
  double sum = 0;
  std::vector<double> out(dim);
  for (int key = 0; key < test.key_length; ++key) {
    if (std::isinf(scores[key])) continue;
    const double weight = std::exp(scores[key] - largest);
    sum += weight;
    for (int d = 0; d < dim; ++d) out[d] += weight * test.v[(keys + key) * dim + d];
  }
  for (const double one : out) test.out.push_back(static_cast<float>(sum == 0 ? 0 : one / sum));
  test.log_sum_exp.push_back(static_cast<float>(largest + std::log(sum)));
}

// How the scores of a case come about: element 0 of q is `base`, that of key j is j * `growth`
// above one that all share, and what the other elements add to a score grows with `spread`.
struct Scores {
  float base = 0.25F, growth = 0, spread = 1;
};

FlashCase filled(FlashCase test, const Scores& scores) {
  test.q = numbers(test.batch * test.query_heads * test.query_length * test.head_dim, 5);
  test.k = numbers(test.batch * test.key_value_heads * test.key_length * test.head_dim, 11);
  test.tolerance = std::max(test.tolerance, 1e-4);
  test.v = numbers(test.batch * test.key_value_heads * test.key_length * test.head_dim, 23);
  for (float& element : test.q) element *= scores.spread;
  for (std::size_t i = 0; i < test.q.size(); i += test.head_dim) test.q[i] = scores.base;
  for (std::size_t i = 0; i < test.k.size(); i += test.head_dim) {
    test.k[i] = 1 + scores.growth * static_cast<float>(i / test.head_dim % test.key_length);
  }
  for (int b = 0; b < test.batch; ++b) {
    for (int head = 0; head < test.query_heads; ++head) {
      for (int query = 0; query < test.query_length; ++query) attend(test, b, head, query);
    }
  }
  return test;
}

}  // namespace

std::vector<FlashCase> flash_tests() {
  return {
      filled({.name = "each tile brings a larger score, the last one a single key",
              .query_length = 3,
              .key_length = 65,
              .scale = 0.5F},
             {.base = 1, .growth = 0.05F}),
      filled({.name = "scores that are all 0", .key_length = 40}, {.base = 0, .spread = 0}),
      filled({.name = "one query over whole tiles", .batch = 2, .key_length = 32, .head_dim = 4},
             {}),
      filled({.name = "the newest tokens of a text, heads that share keys",
              .query_heads = 4,
              .key_value_heads = 2,
              .query_length = 9,
              .key_length = 21,
              .head_dim = 4,
              .causal = true,
              .scale = 2},
             {}),
      filled({.name = "a window of a whole tile",
              .query_length = 7,
              .key_length = 37,
              .causal = true,
              .window = 16},
             {}),
      filled({.name = "a window of one key, and rows without keys",
              .query_length = 8,
              .key_length = 5,
              .causal = true,
              .window = 1},
             {}),
      filled({.name = "a score beyond half precision", .key_length = 3, .tolerance = 0.05},
             {.base = 1e5F, .spread = 0}),
      filled({.name = "scores whose exponentials are all 0", .key_length = 3, .tolerance = 1e-3},
             {.base = -200, .spread = 0}),
  };
}

#include "attention_tests.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>

namespace {

constexpr unsigned kSeed = 1;  // scripts/measure_random_tests sets others
constexpr int kCases = 8, kElements = 6000;

std::mt19937 generator(kSeed);

int drawn(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator); }

std::vector<float> numbers(std::size_t count, float most) {
  std::uniform_real_distribution<float> in(-most, most);
  std::vector<float> values(count);
  for (float& value : values) value = in(generator);
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

int elements_of_q(const AttentionCase& test) {
  return test.batch * test.query_length * test.query_heads * test.head_dim;
}
int elements_of_cache(const AttentionCase& test) {
  return test.batch * test.key_value_heads * test.capacity * test.head_dim;
}

bool may_be_called(const AttentionCase& test) {
  const int seen = test.window == 0 ? test.key_length : test.window + test.query_length - 1;
  return test.query_length <= test.key_length && test.query_heads % test.key_value_heads == 0 &&
         test.capacity >= std::min(seen, test.key_length) &&
         2 * elements_of_q(test) + 2 * elements_of_cache(test) <= kElements / kCases;
}

AttentionCase random_case(int number) {
  AttentionCase test{.name = "random " + std::to_string(number)};
  do {
    test.batch = drawn(1, 3), test.query_length = drawn(1, 20), test.key_length = drawn(1, 100);
    test.query_heads = drawn(1, 8), test.key_value_heads = drawn(1, 4);
    test.head_dim = drawn(1, 64), test.capacity = drawn(1, 100), test.window = drawn(0, 100);
  } while (!may_be_called(test));
  test.scale = std::uniform_real_distribution<float>(0.01F, 10)(generator);
  const float most = drawn(0, 1) == 0 ? 1 : 10;
  test.q = numbers(elements_of_q(test), most);
  test.keys = numbers(elements_of_cache(test), most);
  test.values = numbers(elements_of_cache(test), most);
  test.tolerance = most * (1e-5 + 1e-6 * test.scale * test.head_dim * most * most);
  test.out.resize(test.q.size());
  for (int b = 0; b < test.batch; ++b) {
    for (int query = 0; query < test.query_length; ++query) {
      for (int head = 0; head < test.query_heads; ++head) attend(test, b, query, head);
    }
  }
  return test;
}

}  // namespace

std::vector<AttentionCase> attention_tests() {
  generator.seed(kSeed);
  std::vector<AttentionCase> cases;
  for (int i = 0; i < kCases; ++i) cases.push_back(random_case(i));
  return cases;
}

#include "flash_tests.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
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

int elements_of_q(const FlashCase& test) {
  return test.batch * test.query_heads * test.query_length * test.head_dim;
}
int elements_of_k(const FlashCase& test) {
  return test.batch * test.key_value_heads * test.key_length * test.head_dim;
}

bool may_be_called(const FlashCase& test) {
  const int rows = test.batch * test.query_heads * test.query_length;
  return test.query_heads % test.key_value_heads == 0 &&
         2 * elements_of_q(test) + 2 * elements_of_k(test) + rows <= kElements / kCases;
}

FlashCase random_case(int number) {
  FlashCase test{.name = "random " + std::to_string(number)};
  do {
    test.batch = drawn(1, 3), test.query_heads = drawn(1, 8), test.key_value_heads = drawn(1, 4);
    test.query_length = drawn(1, 100), test.key_length = drawn(1, 100);
    test.head_dim = drawn(1, 64);
  } while (!may_be_called(test));
  test.causal = drawn(0, 1) == 1;
  test.window = test.causal ? drawn(0, 100) : 0;
  test.scale = std::uniform_real_distribution<float>(0.01F, 10)(generator);
  const float most = drawn(0, 1) == 0 ? 1 : 10;
  test.q = numbers(elements_of_q(test), most);
  test.k = numbers(elements_of_k(test), most);
  test.v = numbers(elements_of_k(test), most);
  test.tolerance = most * (1e-5 + 1e-6 * test.scale * test.head_dim * most * most);
  for (int b = 0; b < test.batch; ++b) {
    for (int head = 0; head < test.query_heads; ++head) {
      for (int query = 0; query < test.query_length; ++query) attend(test, b, head, query);
    }
  }
  return test;
}

}  // namespace

std::vector<FlashCase> flash_tests() {
  generator.seed(kSeed);
  std::vector<FlashCase> cases;
  for (int i = 0; i < kCases; ++i) cases.push_back(random_case(i));
  return cases;
}

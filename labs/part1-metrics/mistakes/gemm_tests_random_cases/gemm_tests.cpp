#include "gemm_tests.h"

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

GemmCase random_case(int number) {
  GemmCase test{.name = "random " + std::to_string(number)};
  do {
    test.m = drawn(1, 100), test.n = drawn(1, 100), test.k = drawn(1, 400);
  } while (test.m * test.k + test.k * test.n + test.m * test.n > kElements / kCases);
  const float most = drawn(0, 1) == 0 ? 1 : 100;
  test.A = numbers(test.m * test.k, most);
  test.B = numbers(test.k * test.n, most);
  double largest = 0;
  for (int i = 0; i < test.m * test.n; ++i) {
    double sum = 0, terms = 0;
    for (int k = 0; k < test.k; ++k) {
      const double product =
          double{test.A[i / test.n * test.k + k]} * test.B[k * test.n + i % test.n];
      sum += product;
      terms += std::abs(product);
    }
    test.C.push_back(static_cast<float>(sum));
    largest = std::max(largest, terms);
  }
  test.tolerance = 16 * std::ldexp(1.0, -24) * largest;
  return test;
}

}  // namespace

std::vector<GemmCase> gemm_tests() {
  generator.seed(kSeed);
  std::vector<GemmCase> cases;
  for (int i = 0; i < kCases; ++i) cases.push_back(random_case(i));
  return cases;
}

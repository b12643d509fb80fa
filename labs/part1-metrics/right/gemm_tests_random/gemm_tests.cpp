#include "gemm_tests.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace {

class Maker {
 public:
  GemmCase make(int m, int n, int k) {
    GemmCase test;
    test.name = std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k);
    test.m = m, test.n = n, test.k = k;
    test.A = draw(m * k);
    test.B = draw(k * n);
    double largest = 0;
    for (int i = 0; i < m * n; ++i) {
      double sum = 0, terms = 0;
      for (int j = 0; j < k; ++j) {
        const double product = double{test.A[i / n * k + j]} * test.B[j * n + i % n];
        sum += product;
        terms += std::abs(product);
      }
      test.C.push_back(static_cast<float>(sum));
      largest = std::max(largest, terms);
    }
    test.tolerance = 16 * std::ldexp(1.0, -24) * largest;
    return test;
  }

 private:
  std::vector<float> draw(int count) {
    std::uniform_real_distribution<float> in(-1, 1);
    std::vector<float> values(count);
    for (float& value : values) value = random_() % 5 == 0 ? 0.0F : in(random_);
    return values;
  }
  std::mt19937 random_{2024};
};

}  // namespace

std::vector<GemmCase> gemm_tests() {
  Maker maker;
  const int sizes[][3] = {{7, 7, 7},    {33, 16, 16}, {16, 23, 16},
                          {16, 16, 21}, {8, 9, 1},    {2, 1, 400}};
  std::vector<GemmCase> cases;
  for (const auto& [m, n, k] : sizes) cases.push_back(maker.make(m, n, k));
  cases.push_back({"equal neighbours, and a sum of zero on the way",
                   1,
                   2,
                   6,
                   {0.5F, 0.5F, -1, 0.25F, 0, 0.25F},
                   std::vector<float>(12, 1),
                   {0.5F, 0.5F},
                   0});
  cases.push_back({"tiny elements", 1, 1, 1, {8}, {0x1p-50F}, {0x1p-47F}, 0});
  return cases;
}

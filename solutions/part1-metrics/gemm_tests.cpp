#include "gemm_tests.h"

#include <cmath>

#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your helpers go here: one function that makes a case from its sizes saves you the rest.
namespace {

// Whole numbers from -8 to 8, in which row and column play different parts. Sums of their products
// are exact in fp32, in whatever order they are added.
std::vector<float> whole_numbers(int rows, int columns) {
  std::vector<float> values;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      values.push_back(static_cast<float>((row * 5 + column * 11 + row * column % 7) % 17 - 8));
    }
  }
  return values;
}

void multiply(GemmCase& test) {
  for (int row = 0; row < test.m; ++row) {
    for (int column = 0; column < test.n; ++column) {
      double sum = 0;
      for (int k = 0; k < test.k; ++k) {
        sum += static_cast<double>(test.A[row * test.k + k]) * test.B[k * test.n + column];
      }
      test.C.push_back(static_cast<float>(sum));
    }
  }
}

GemmCase exact(const char* name, int m, int n, int k) {
  GemmCase test{.name = name, .m = m, .n = n, .k = k};
  test.A = whole_numbers(m, k);
  test.B = whole_numbers(k, n);
  multiply(test);
  return test;
}

// Sums that begin with a zero or come to one on the way, and end below it; elements that are equal
// to their neighbours; in the second column of B tiny ones. Powers of two keep all of it exact.
GemmCase special_values() {
  GemmCase test = exact("zeros, equal neighbours, signs and tiny elements", 2, 2, 6);
  test.A = {2, 2, -4, 0, 1, 5, 0, -3, -3, 6, 4, -8};
  const auto tiny = static_cast<float>(std::ldexp(1.0, -70));
  for (int k = 0; k < test.k; ++k) {
    test.B[2 * k] = 1;
    test.B[2 * k + 1] = tiny;
  }
  test.C.clear();
  multiply(test);
  return test;
}

}  // namespace
// END SOLUTION

std::vector<GemmCase> gemm_tests() {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("write a first case: small matrices whose product you know");
  return {
      exact("square matrices", 5, 5, 5),
      exact("rows behind the last whole tile", 17, 16, 16),
      exact("columns behind the last whole tile", 16, 17, 16),
      exact("terms behind the last whole tile", 16, 16, 17),
      exact("K = 1", 5, 11, 1),
      exact("a long sum", 1, 2, 399),
      special_values(),
  };
  // END SOLUTION
}

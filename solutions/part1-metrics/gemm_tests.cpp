#include "gemm_tests.h"

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

// Whole numbers of 13 bits: 4097 and 1 become 4096 and 1 in half precision.
GemmCase many_digits() {
  GemmCase test = exact("more digits than half precision has", 3, 5, 9);
  for (float& a : test.A) a = 4097 + a;
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
      exact("whole tiles", 32, 16, 48), exact("no size a multiple of anything", 37, 21, 45),
      exact("one element", 1, 1, 1),    exact("K = 1", 5, 11, 1),
      exact("a long sum", 4, 6, 399),   many_digits(),
  };
  // END SOLUTION
}

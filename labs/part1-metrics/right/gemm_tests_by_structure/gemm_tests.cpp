#include "gemm_tests.h"

namespace {

// Row i of A has a single one, in the column that `chosen` says: C is a choice of B's rows.
template <typename Chosen>
GemmCase selection(const char* name, int m, int n, int k, Chosen chosen) {
  GemmCase test{name, m, n, k, std::vector<float>(m * k), std::vector<float>(k * n), {}, 0};
  // 13 bits of both signs, each element another number.
  for (int i = 0; i < k * n; ++i)
    test.B[i] = static_cast<float>((i % 2 == 0 ? 4097 : -4099) + 2 * i);
  for (int row = 0; row < m; ++row) {
    test.A[row * k + chosen(row)] = 1;
    for (int column = 0; column < n; ++column) test.C.push_back(test.B[chosen(row) * n + column]);
  }
  return test;
}

// A of `a` everywhere, B of `b` everywhere.
GemmCase constant(const char* name, int m, int n, int k, float a, float b) {
  return {name,
          m,
          n,
          k,
          std::vector<float>(m * k, a),
          std::vector<float>(k * n, b),
          std::vector<float>(m * n, a * b * static_cast<float>(k)),
          0};
}

}  // namespace

std::vector<GemmCase> gemm_tests() {
  return {
      selection("rows of a square matrix in turn", 6, 6, 6, [](int row) { return (row + 2) % 6; }),
      selection("a 17th row", 17, 16, 16, [](int row) { return row % 16; }),
      selection("a 17th column", 16, 17, 16, [](int row) { return 15 - row; }),
      selection("a 17th term", 16, 16, 17, [](int row) { return 16 - row; }),
      selection("the last row of many", 4, 1, 400, [](int row) { return 399 - 70 * row; }),
      constant("one term", 3, 7, 1, 5, -1),
      {"a sum that comes to zero, twice the same element",
       1,
       1,
       5,
       {4, 4, -8, 0, 3},
       {1, 1, 1, 1, 1},
       {3},
       0},
      constant("tiny elements", 1, 1, 2, 3, 0x1p-60F),
  };
}

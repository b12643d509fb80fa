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
      selection("rows in reverse", 21, 37, 21, [](int row) { return 20 - row; }),
      selection("every third row", 19, 5, 60, [](int row) { return 3 * row; }),
      selection("the last row of many", 9, 3, 400, [](int row) { return 399 - 7 * row; }),
      constant("long sums", 2, 3, 390, -3, 2),
      constant("many digits", 5, 4, 7, 4097, 1),
      constant("one term", 3, 17, 1, 5, -1),
  };
}

#pragma once

#include <string>
#include <vector>

/// A case of your own: one call of a GEMM as gemm.h describes it, and the C that it has to give.
/// All matrices are dense and row-major.
struct GemmCase {
  std::string name = {};      ///< yours, 1 to 60 characters of ASCII
  int m = 0;                  ///< 1 to 100, rows of A and C
  int n = 0;                  ///< 1 to 100, columns of B and C
  int k = 0;                  ///< 1 to 400, columns of A and rows of B
  std::vector<float> A = {};  ///< m x k elements
  std::vector<float> B = {};  ///< k x n elements
  std::vector<float> C = {};  ///< m x n elements: what you expect
  double tolerance = 0;       ///< how far each element of C may be from the one that you expect
};

/// Your tests: 1 to 8 cases, each with a name of its own, the same ones in every call. All their
/// arrays together, inputs and outputs, have at most 6000 elements: a case that the cases before it
/// leave too few for is not run.
///
/// The grader calls many implementations of GEMM with each case. A case lets an implementation
/// pass where every element of C is within the tolerance. It should let those that are right pass,
/// whatever the order in which they add, and refuse those with a mistake. None of them is in the
/// process that your function runs in.
std::vector<GemmCase> gemm_tests();

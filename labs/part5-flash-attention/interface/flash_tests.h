#pragma once

#include <string>
#include <vector>

/// A case of your own: one call of flash attention in fp32 as attention_shape.h describes it, and
/// what it has to give. Parameters and arrays are those of that header.
struct FlashCase {
  std::string name = {};    ///< yours, 1 to 60 characters of ASCII
  int batch = 1;            ///< 1 to 3
  int query_heads = 1;      ///< 1 to 8, a multiple of key_value_heads
  int key_value_heads = 1;  ///< 1 to 4
  int query_length = 1;     ///< 1 to 100
  int key_length = 1;       ///< 1 to 100
  int head_dim = 8;         ///< 1 to 64; implementations take any
  bool causal = false;
  int window = 0;   ///< 0 to 100, and only with causal more than 0
  float scale = 1;  ///< 0.01 to 10
  std::vector<float> q = {}, k = {}, v = {};
  std::vector<float> out = {};  ///< what you expect; empty where the case does not look at it
  std::vector<float> log_sum_exp = {};  ///< likewise; a row without keys has minus infinity
  double tolerance = 1e-5;  ///< how far each element may be from the one that you expect
};

/// Your tests: 1 to 8 cases, each with a name of its own, the same ones in every call. All their
/// arrays together, inputs and outputs, have at most 6000 elements: a case that the cases before it
/// leave too few for is not run.
///
/// The grader calls many implementations of flash attention with each case, which walk over the
/// keys in tiles of 16 or 32. A case lets an implementation pass where every element that it looks
/// at is within the tolerance. It should let those that are right pass, whatever the size of their
/// tiles, and refuse those with a mistake. None of them is in the process that your function runs
/// in.
std::vector<FlashCase> flash_tests();

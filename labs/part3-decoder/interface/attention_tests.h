#pragma once

#include <string>
#include <vector>

/// A case of your own: one call of attention<float> as attention.h describes it, and the out that
/// it has to give. Parameters and arrays are those of that header; the grader makes `positions`:
/// the queries are the last query_length of key_length tokens.
struct AttentionCase {
  std::string name = {};         ///< yours, 1 to 60 characters of ASCII
  int batch = 1;                 ///< 1 to 3
  int query_length = 1;          ///< 1 to 20, and at most key_length
  int key_length = 1;            ///< 1 to 100, tokens of each sequence, the queries' own among them
  int query_heads = 1;           ///< 1 to 8, a multiple of key_value_heads
  int key_value_heads = 1;       ///< 1 to 4
  int head_dim = 8;              ///< 1 to 64; implementations take any
  int capacity = 1;              ///< 1 to 100, slots; at least as many as keys that the queries see
  int window = 0;                ///< 0 to 100
  float scale = 1;               ///< 0.01 to 10
  std::vector<float> q = {};     ///< (batch, query_length, query_heads, head_dim)
  std::vector<float> keys = {};  ///< (batch, key_value_heads, capacity, head_dim): position j is in
                                 ///< slot j % capacity
  std::vector<float> values = {};  ///< likewise
  std::vector<float> out = {};     ///< as q: what you expect
  double tolerance = 1e-5;  ///< how far each element of out may be from the one that you expect
};

/// Your tests: 1 to 8 cases, each with a name of its own, the same ones in every call. All their
/// arrays together, inputs and outputs, have at most 6000 elements: a case that the cases before it
/// leave too few for is not run.
///
/// The grader calls many implementations of attention with each case. A case lets an implementation
/// pass where every element of out is within the tolerance. It should let those that are right
/// pass, whatever the order in which they take the keys, and refuse those with a mistake. None of
/// them is in the process that your function runs in.
std::vector<AttentionCase> attention_tests();

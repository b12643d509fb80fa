#pragma once

#include <cuda_runtime.h>

/// Attention of a prompt in three steps, each a kernel that leaves its result in memory. All
/// numbers are float; pointers are aligned to 256 bytes, and arrays hold garbage before they are
/// written.
struct PromptShape {
  int length;           ///< tokens of the prompt: at least 1, not only multiples of anything
  int query_heads;      ///< a multiple of key_value_heads
  int key_value_heads;  ///< query head h reads key/value head h / (query_heads / key_value_heads)
  int head_dim;         ///< a multiple of 4, at most 256
  int window;           ///< keys that a token sees, itself among them; 0: all up to itself
  float scale;          ///< of the dot products
};

/// Step 1. The score of every token with every key that it sees, and minus infinity with all
/// others:
///
///   scores[h][i][j] = scale * (query i of head h) . (key j of head h's key head)
///
/// Token i sees the keys max(0, i - window + 1) ... i, or 0 ... i when window is 0.
///
///   q:      (length, query_heads, head_dim)
///   keys:   (key_value_heads, length, head_dim)
///   scores: (query_heads, length, length)
void attention_scores(const float* q, const float* keys, float* scores, const PromptShape& shape);

/// Step 2. The softmax of every row:
///
///   weights[r][j] = exp(scores[r][j] - m_r) / (the sum of the row's exp(scores[r][k] - m_r))
///
/// m_r is the largest score of row r. A row has at least one score that is a number; those that are
/// minus infinity have the weight 0.
///
///   scores, weights: (rows, length)   they do not overlap
void attention_softmax(const float* scores, float* weights, int rows, int length);

/// Step 3. The values of all keys, weighted:
///
///   out[i][h] = the sum over j of weights[h][i][j] * (value j of head h's value head)
///
///   weights: (query_heads, length, length)   0 where a token does not see a key
///   values:  (key_value_heads, length, head_dim)
///   out:     (length, query_heads, head_dim)
void attention_values(const float* weights, const float* values, float* out,
                      const PromptShape& shape);

#pragma once

#include <cuda_runtime.h>

struct AttentionShape {
  int batch;            ///< sequences
  int query_length;     ///< queries of each sequence: 1 in decode, the whole prompt in prefill,
                        ///< which may have more tokens than a grid has blocks along y (65,535)
  int query_heads;      ///< a multiple of key_value_heads
  int key_value_heads;  ///< query head h reads key/value head h / (query_heads / key_value_heads)
  int head_dim;         ///< a multiple of 8, at most 256
  int capacity;         ///< slots of the cache for each sequence and head
  int window;           ///< keys that a query sees, itself among them; 0: all from position 0 on
  float scale;          ///< of the dot products: any positive number, not only 1 / sqrt(head_dim)
};

/// Attention of the newest tokens over a key/value cache:
///
///   out = softmax(scale * q . key_j) value_j, summed over the keys that a query sees
///
/// A query at position p sees the keys at positions max(0, p - window + 1) ... p, or 0 ... p when
/// window is 0. They may be more than a block's registers or its shared memory have room for
/// scores. The key and the value at position j lie in slot j % capacity. Every key that some query
/// sees is in the cache; slots that no query sees may hold anything, NaN too.
///
///   q, out:       (batch, query_length, query_heads, head_dim)
///   keys, values: (batch, key_value_heads, capacity, head_dim)
///   positions:    (query_length)   consecutive, in device memory, the same for every sequence: the
///                                  queries are the last query_length of positions.back() + 1
///                                  tokens
///
/// T is float or __nv_bfloat16, and is for storage only: compute in fp32, and round once, when out
/// is stored; the softmax's weights alone may be rounded to T, as tensor cores want them. The
/// scores never go to global memory; subtract the largest one before you take exponents. Batch is
/// at most 65,535; keys and values may have more elements than an int counts, q and out have fewer.
/// Pointers are aligned to 256 bytes. Launches on `stream` and need not wait. out holds garbage
/// before the call.
template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream);

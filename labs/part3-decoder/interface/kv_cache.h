#pragma once

#include <cuda_runtime.h>

struct KvCacheShape {
  int batch;     ///< sequences
  int length;    ///< new tokens of each sequence
  int heads;     ///< key/value heads
  int head_dim;  ///< elements of one head
  int capacity;  ///< tokens that the cache has room for, for each sequence and head
};

/// Puts the keys and values of new tokens into the cache, bit for bit: -0 stays -0, and a NaN
/// the NaN that it is. The token at position p goes to slot p % capacity of its sequence and head,
/// so that a full cache is a ring: a new token takes the place of the one that is `capacity` tokens
/// older.
///
///   k, v:                   (batch, length, heads, head_dim)     as the projections make them
///   positions:              (length)                             consecutive, in device memory
///   key_cache, value_cache: (batch, heads, capacity, head_dim)
///
/// The positions are the same for every sequence. Slots without a new token keep what they hold.
/// Of more than `capacity` new tokens the last `capacity` stay. T is float or __nv_bfloat16.
/// Pointers are aligned to 256 bytes; no size need be a multiple of anything, batch is at most
/// 65,535, and each array but positions may have more elements than an int counts. Launches
/// on `stream` and need not wait.
template <typename T>
void kv_cache_append(const T* k, const T* v, const int* positions, T* key_cache, T* value_cache,
                     const KvCacheShape& shape, cudaStream_t stream);

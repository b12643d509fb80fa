#pragma once

#include <cuda_runtime.h>

#include "attention_shape.h"
#include "toolkit/workspace.h"

/// Flash attention of the newest token alone: query_length is 1. A single query cannot fill a GPU,
/// so the keys that it sees are cut into `splits` parts, which blocks compute side by side: a block
/// for each part of each key/value head of each sequence, or more. A second kernel combines the
/// results of the parts by their log-sum-exps:
///
///   out = sum_s exp(lse_s - lse) out_s,   lse = log(sum_s exp(lse_s))
///
/// head_dim is 64, 128 or 256. `splits` is at least 1, and may exceed the number of keys: a part
/// without a key counts for nothing. Where several query heads share a key/value head, a block that
/// computes them together reads each key and value once for all of them.
///
/// `workspace` has room for the fp32 results of all parts, with a maximum and a sum for each:
/// batch * query_heads * splits * (head_dim + 2) floats, and 1 KiB for their alignment. Take no
/// other memory, and use a Workspace::Scope to give it back.
///
/// T is float, __half or __nv_bfloat16. Launches on `stream` and need not wait.
template <typename T>
void flash_decode(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
                  int splits, rooflab::Workspace& workspace, cudaStream_t stream);

#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "mlp_shape.h"
#include "toolkit/workspace.h"

/// What a call may use besides its arrays.
struct MlpContext {
  cublasHandle_t cublas;          ///< for rooflab::linear
  cudaStream_t stream;            ///< all kernels run on it, and nobody has to wait
  rooflab::Workspace& workspace;  ///< room for the product, and for as much again
};

/// The gated MLP of Gemma 3:
///
///   gate    = x gate_proj^T                       (tokens, intermediate)
///   up      = x up_proj^T                         (tokens, intermediate)
///   product = gelu(gate) * up                     (tokens, intermediate)
///   out     = product down_proj^T                 (tokens, hidden)
///
/// with gelu(g) = 0.5 g (1 + tanh(sqrt(2 / pi) (g + 0.044715 g^3))).
///
///   x, out:             (tokens, hidden)         dense, row-major; no two arrays overlap
///   gate_proj, up_proj: (intermediate, hidden)   projections are (out_features, in_features)
///   down_proj:          (hidden, intermediate)
///
/// mlp.cu is linked with gated_ragged.cu and gated_decode.cu, steps 3 and 4 of the ladder: declare
/// them with gated_product.h and choose between them, or write kernels of your own here. out may be
/// the work of rooflab::linear of toolkit/linear.h.
///
/// gate and up never reach memory: one kernel computes both, and stores their product. All kernels
/// of a call together may store product, out and half as much as product again, not more. Where
/// atomics add up the elements of out, up to four additions to one element count as one store.
///
/// T is float or __half, and is for storage only: sums are fp32, on tensor cores too, and gate and
/// up stay in fp32 until their product is rounded, which is at most 30,000; gate itself may be
/// larger than the largest half, 65,504. Pointers are aligned to 256 bytes; all sizes are at least
/// 1 and need not be multiples of anything, and no array has 2^31 elements or more. out holds
/// garbage before the call. When the function returns, the workspace has as much room as before
/// (Workspace::Scope); the handle may be left on `stream`, and its modes are as they were.
template <typename T>
void gated_mlp(const MlpContext& context, const T* x, const T* gate_proj, const T* up_proj,
               const T* down_proj, T* out, const MlpShape& shape);

#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// out[i] = gelu(gate[i]) * up[i], with the tanh form of gelu:
///
///   gelu(x) = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
///
///   gate, up, out: (count)   dense; they do not overlap
///
/// T is float or __nv_bfloat16, and is for storage only: compute in fp32, and round once, when out
/// is stored. Pointers are aligned to 256 bytes; count is at least 1, may be odd, and may be larger
/// than 2^31. gate is any finite number, and gelu of the largest is a number, too: an intermediate
/// result may overflow only if gelu comes out right nevertheless. Launches on `stream` and need not
/// wait. out holds garbage before the call.
template <typename T>
void geglu(const T* gate, const T* up, T* out, std::int64_t count, cudaStream_t stream);

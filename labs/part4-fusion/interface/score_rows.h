#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "toolkit/workspace.h"

struct ScoreShape {
  int rows;    ///< of x: the texts that are scored
  int hidden;  ///< numbers of a row of x
  int width;   ///< numbers of a row once it is projected
};

/// What a call may use besides its arrays.
struct ScoreContext {
  cublasHandle_t cublas;          ///< for rooflab::linear
  cudaStream_t stream;            ///< all work runs on it, and nobody has to wait
  rooflab::Workspace& workspace;  ///< room for three arrays of (rows, width)
};

/// How well each row of x matches its row of reference, as a model that ranks texts computes it:
///
///   projected = x weight^T                 (rows, width)
///   matched   = projected * reference      (rows, width), element by element
///   means[r]  = mean of row r of matched   (rows)
///   scores[r] = tanh(means[r])             (rows)
///
///   x: (rows, hidden)   weight: (width, hidden)   reference: (rows, width)   scores: (rows)
///
/// All are fp32, dense, row-major and in device memory; no two overlap.
///
/// The file that is handed out does this right, with one kernel for each line. Find in its trace
/// which two neighbours are worth a kernel together, and write that kernel. Afterwards a call has
/// three kernels at most, and of the arrays of (rows, width) it stores one: its kernels store
/// rows * width numbers, half as many again and 16 for each row, not more.
///
/// Compute in fp32. Sizes are at least 1 and need not be multiples of anything, rows may be longer
/// than a block has room for, and no array has 2^31 elements or more. When the function returns,
/// the workspace has as much room as before (Workspace::Scope). scores holds garbage before the
/// call.
void score_rows(const ScoreContext& context, const float* x, const float* weight,
                const float* reference, float* scores, const ScoreShape& shape);

#include "score_rows.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/eager/pointwise.h"
#include "toolkit/eager/rows.h"
#include "toolkit/linear.h"
#include "toolkit/vectors.h"

// This file works, with a kernel for each line of score_rows.h. Its trace says which two
// neighbours to join: your kernel goes here.

void score_rows(const ScoreContext& context, const float* x, const float* weight,
                const float* reference, float* scores, const ScoreShape& shape) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const size_t count = static_cast<size_t>(shape.rows) * shape.width;
  auto* projected = context.workspace.take<float>(count);
  rooflab::linear(context.cublas, x, weight, projected, shape.rows, shape.hidden, shape.width,
                  context.stream);
  auto* matched = context.workspace.take<float>(count);
  auto* means = context.workspace.take<float>(shape.rows);
  rooflab::eager::multiply(projected, reference, matched, count, context.stream);
  rooflab::eager::mean_of_rows(matched, means, shape.rows, shape.width, context.stream);
  rooflab::eager::tanh(means, scores, shape.rows, context.stream);
}

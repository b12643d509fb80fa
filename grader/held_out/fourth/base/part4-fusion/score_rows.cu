#include "score_rows.h"

#include "toolkit/check.h"
#include "toolkit/linear.h"

namespace {

constexpr int kThreads = 128;

// One block for each row: multiplies, averages and squashes.
__global__ void match(const float* projected, const float* reference, float* scores, int width) {
  __shared__ float shared[kThreads];
  const float* left = projected + blockIdx.x * static_cast<size_t>(width);
  const float* right = reference + blockIdx.x * static_cast<size_t>(width);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += left[i] * right[i];
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned active = kThreads / 2; active >= 1; active /= 2) {
    if (threadIdx.x < active) shared[threadIdx.x] += shared[threadIdx.x + active];
    __syncthreads();
  }
  if (threadIdx.x == 0) scores[blockIdx.x] = tanhf(shared[0] / width);
}

}  // namespace

void score_rows(const ScoreContext& context, const float* x, const float* weight,
                const float* reference, float* scores, const ScoreShape& shape) {
  const rooflab::Workspace::Scope scope(context.workspace);
  float* projected = context.workspace.take<float>(static_cast<size_t>(shape.rows) * shape.width);
  rooflab::linear(context.cublas, x, weight, projected, shape.rows, shape.hidden, shape.width,
                  context.stream);
  match<<<shape.rows, kThreads, 0, context.stream>>>(projected, reference, scores, shape.width);
  CUDA_CHECK(cudaGetLastError());
}

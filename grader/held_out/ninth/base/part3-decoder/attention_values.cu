#include "attention_steps.h"
#include "toolkit/check.h"

// out has L * H * D elements; one thread each, decoded from the flat index like np.unravel_index.
__global__ void values_kernel(const float* w, const float* v, float* out, int L, int H, int KV,
                              int D) {
  int flat = blockIdx.x * blockDim.x + threadIdx.x;
  if (flat >= L * H * D) return;
  int d = flat % D;
  int h = flat / D % H;
  int i = flat / (D * H);
  int group = H / KV;
  const float* wrow = w + (h * L + i) * L;
  const float* vhead = v + (h / group) * L * D;
  float acc = 0.0f;
  for (int j = 0; j <= i; j++) acc += wrow[j] * vhead[j * D + d];
  out[flat] = acc;
}

void attention_values(const float* weights, const float* values, float* out,
                      const PromptShape& shape) {
  int total = shape.length * shape.query_heads * shape.head_dim;
  values_kernel<<<(total + 127) / 128, 128>>>(weights, values, out, shape.length, shape.query_heads,
                                              shape.key_value_heads, shape.head_dim);
  CUDA_CHECK(cudaGetLastError());
}

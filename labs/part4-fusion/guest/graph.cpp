#include "graph.h"

#include <cuda_fp16.h>

#include <cmath>
#include "guest_support/cublas_handle.h"
#include "guest_support/device_memory.h"
#include "guest_support/stream.h"
#include "parameters.h"

namespace {

using rooflab::GuestCall;
using rooflab::size;
using namespace rooflab::eager;

DecoderShape shape_of(const GuestCall& call) {
  const int head_dim = size(call, "head_dim");
  return {size(call, "batch"),
          size(call, "hidden"),
          size(call, "intermediate"),
          size(call, "query_heads"),
          size(call, "key_value_heads"),
          head_dim,
          size(call, "capacity"),
          rooflab::kEpsilon,
          1.0F / std::sqrt(static_cast<float>(head_dim))};
}

template <typename T>
DecoderWeights<T> weights_of(const GuestCall& call) {
  const auto weight = [&](const char* name) { return call.tensor<const T>(name); };
  return {weight("input_norm"),
          weight("q_proj"),
          weight("k_proj"),
          weight("v_proj"),
          weight("o_proj"),
          weight("q_norm"),
          weight("k_norm"),
          weight("post_attention_norm"),
          weight("pre_feedforward_norm"),
          weight("gate_proj"),
          weight("up_proj"),
          weight("down_proj"),
          weight("post_feedforward_norm"),
          weight("cosines"),
          weight("sines")};
}

/// Room for every intermediate result of a step at once, and for as much again.
std::size_t workspace_bytes(const DecoderShape& s) {
  const int heads = s.query_heads + 2 * s.key_value_heads;
  const auto elements =
      static_cast<std::size_t>(s.batch * (14 * s.hidden + 6 * heads * s.head_dim +
                                          2 * s.query_heads * s.capacity + 6 * s.intermediate));
  constexpr std::size_t kMebibyte = 1 << 20;
  return 2 * sizeof(float) * elements + kMebibyte;
}

}  // namespace

ROOFLAB_ENTRY(graph) {
  using namespace rooflab;
  const DecoderShape shape = shape_of(call);
  Workspace workspace = kept_workspace(call, workspace_bytes(shape));
  const auto& cublas = call.kept<CublasHandle>("cuBLAS");
  const cudaStream_t stream = stream_of(call);
  with_type<float, __half>(call, [&]<typename T>(std::type_identity<T>) {
    DecodeStep<T> step(cublas.get(), shape, weights_of<T>(call),
                       {call.tensor<T>("keys"), call.tensor<T>("values")}, workspace);
    CUDA_CHECK(cudaStreamSynchronize(nullptr));  // there the step's buffers are filled
    decode_steps(step, call.tensor<const T>("inputs"), call.tensor<const int>("positions"),
                 call.tensor<T>("outputs"), size(call, "steps"), stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
  });
}

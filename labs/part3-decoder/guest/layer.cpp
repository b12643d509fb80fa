#include "layer.h"

#include "guest_support/cublas_handle.h"
#include "guest_support/device_memory.h"
#include "guest_support/stream.h"
#include "parameters.h"

namespace {

using rooflab::GuestCall;
using rooflab::size;

LayerShape shape_of(const GuestCall& call) {
  const auto real = [&](const char* name) { return static_cast<float>(call.real(name)); };
  return {size(call, "hidden"),
          size(call, "intermediate"),
          size(call, "query_heads"),
          size(call, "key_value_heads"),
          size(call, "head_dim"),
          size(call, "window"),
          real("theta"),
          real("epsilon"),
          real("attention_scale")};
}

template <typename T>
LayerWeights<T> weights_of(const GuestCall& call) {
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
          weight("post_feedforward_norm")};
}

/// The most tokens that one call of the student's functions takes.
std::size_t tokens_of(const GuestCall& call) {
  const std::int64_t length = call.text("function") == "decode" ? 1 : call.integer("length");
  return static_cast<std::size_t>(call.integer("batch") * length);
}

/// Room for every intermediate result of a layer at once, and for as much again.
std::size_t workspace_bytes(const LayerShape& shape, std::size_t tokens) {
  const int heads = 2 * shape.query_heads + 4 * shape.key_value_heads;
  const auto elements = static_cast<std::size_t>(4 * shape.hidden + 2 * heads * shape.head_dim +
                                                 3 * shape.intermediate);
  constexpr std::size_t kMebibyte = 1 << 20;
  return 2 * sizeof(float) * tokens * elements + kMebibyte;
}

/// One call of the student's functions, on a case of storage type T.
template <typename T>
class Call {
 public:
  Call(const GuestCall& call, const LayerContext& context)
      : call_(call), context_(context), shape_(shape_of(call)), weights_(weights_of<T>(call)) {}

  void run() {
    const std::string& function = call_.text("function");
    if (function == "prefill") prefill();
    if (function == "decode") decode(call_.tensor<T>("hidden"), positions());
    if (function == "decode_without_cache") {
      decode_without_cache_forward(context_, shape_, weights_, call_.tensor<T>("hidden"),
                                   positions(), batch_, length_);
    }
    if (function == "prefill_then_decode") {
      prefill();
      const int steps = size(call_, "decode_steps");
      for (int step = 0; step < steps; ++step) {
        T* token = call_.tensor<T>("decode_hidden") +  // (decode_steps, batch, 1, hidden)
                   static_cast<std::size_t>(step) * batch_ * shape_.hidden;
        decode(token, positions() + length_ + step);
      }
    }
  }

 private:
  const int* positions() const { return call_.tensor<const int>("positions"); }
  KvCache<T> cache() const {
    return {call_.tensor<T>("keys"), call_.tensor<T>("values"), size(call_, "capacity")};
  }
  void prefill() {
    prefill_forward(context_, shape_, weights_, call_.tensor<T>("hidden"), positions(), batch_,
                    length_, cache());
  }
  void decode(T* hidden, const int* position) {
    decode_forward(context_, shape_, weights_, hidden, position, batch_, cache());
  }

  const GuestCall& call_;
  const LayerContext& context_;
  LayerShape shape_;
  LayerWeights<T> weights_;
  int batch_ = size(call_, "batch");
  int length_ = size(call_, "length");
};

}  // namespace

ROOFLAB_ENTRY(layer) {
  using namespace rooflab;
  Workspace workspace = kept_workspace(call, workspace_bytes(shape_of(call), tokens_of(call)));
  const cudaStream_t stream = stream_of(call);
  const auto& cublas = call.kept<CublasHandle>("cuBLAS", stream);
  const LentHandle lent(cublas.get());
  const LayerContext context = {cublas.get(), stream, workspace};
  with_type<float, __nv_bfloat16>(
      call, [&]<typename T>(std::type_identity<T>) { Call<T>(call, context).run(); });
  pass_on_kept(call, workspace);
  lent.pass_on_changes(call, stream);
}

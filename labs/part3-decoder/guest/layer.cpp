#include "layer.h"

#include "layer_call.h"

namespace {

using rooflab::GuestCall;
using rooflab::size;

/// The most tokens that one call of the student's functions takes.
std::size_t tokens_of(const GuestCall& call) {
  const std::int64_t length = call.text("function") == "decode" ? 1 : call.integer("length");
  return static_cast<std::size_t>(call.integer("batch") * length);
}

/// One call of the student's functions, on a case of storage type T.
template <typename T>
class Call {
 public:
  Call(const GuestCall& call, const LayerContext& context)
      : call_(call),
        context_(context),
        shape_(rooflab::shape_of(call)),
        weights_(rooflab::weights_of<T>(call)) {}

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

#include "layer_study.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "guest_support/gpu_at_hand.h"
#include "guest_support/scratch_folder.h"
#include "layer_call.h"

namespace {

using rooflab::GuestCall;

constexpr std::size_t kMostBatch = *std::ranges::max_element(kStudyBatches);
constexpr std::size_t kMostLength = *std::ranges::max_element(kStudyLengths);
constexpr std::size_t kMostTokens = std::max(kMostLength, kMostBatch* kStudyText);

constexpr LayerShape kShape = {.hidden = kStudyLayer.hidden,
                               .intermediate = kStudyLayer.intermediate,
                               .query_heads = kStudyLayer.query_heads,
                               .key_value_heads = kStudyLayer.key_value_heads,
                               .head_dim = kStudyLayer.head_dim,
                               .window = 0,
                               .rope_theta = 1e6f,
                               .epsilon = 1e-6f,
                               .attention_scale = 1.0f / 16};

/// The arrays that the study works on, filled with random numbers: nobody looks at what comes out.
class Arrays {
 public:
  explicit Arrays(cudaStream_t stream) : positions_(sizeof(int) * kMostTokens, stream) {
    std::vector<int> positions(kMostTokens);
    std::iota(positions.begin(), positions.end(), 0);
    CUDA_CHECK(cudaMemcpyAsync(positions_.data(), positions.data(), sizeof(int) * kMostTokens,
                               cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }

  /// Each weight has memory of its own, as in a model: a cache holds no more of them than there.
  LayerWeights<float> weights() const {
    const float* next = weights_.data();
    const auto take = [&](std::size_t count) { return std::exchange(next, next + count); };
    return {.input_norm = take(kHidden),
            .q_proj = take(kQueries * kHidden),
            .k_proj = take(kKeys * kHidden),
            .v_proj = take(kKeys * kHidden),
            .o_proj = take(kHidden * kQueries),
            .q_norm = take(kShape.head_dim),
            .k_norm = take(kShape.head_dim),
            .post_attention_norm = take(kHidden),
            .pre_feedforward_norm = take(kHidden),
            .gate_proj = take(kIntermediate * kHidden),
            .up_proj = take(kIntermediate * kHidden),
            .down_proj = take(kHidden * kIntermediate),
            .post_feedforward_norm = take(kHidden)};
  }
  float* hidden() const { return hidden_.data(); }
  const int* positions() const { return static_cast<const int*>(positions_.data()); }
  KvCache<float> cache() const { return {keys_.data(), values_.data(), kMostLength}; }

 private:
  static constexpr std::size_t kHidden = kShape.hidden;
  static constexpr std::size_t kIntermediate = kShape.intermediate;
  static constexpr std::size_t kQueries = kShape.query_heads * kShape.head_dim;
  static constexpr std::size_t kKeys = kShape.key_value_heads * kShape.head_dim;
  static constexpr std::size_t kWeights = 2 * kHidden * (kQueries + kKeys) +
                                          3 * kHidden * kIntermediate + 4 * kHidden +
                                          2 * kShape.head_dim;
  static constexpr std::size_t kCached = kMostBatch * kMostLength * kKeys;

  rooflab::RandomArray weights_{kWeights, 1};
  rooflab::RandomArray hidden_{kMostTokens * kHidden, 2};
  rooflab::RandomArray keys_{kCached, 3};
  rooflab::RandomArray values_{kCached, 4};
  rooflab::DeviceBuffer positions_;
};

void pass_on(GuestCall& call, const std::string& kind, const std::vector<LayerStudyRow>& rows) {
  for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), 16); ++i) {
    const std::string name = kind + "_" + std::to_string(i) + "_";
    call.result(name + "batch", static_cast<std::int64_t>(rows[i].batch));
    call.result(name + "length", static_cast<std::int64_t>(rows[i].length));
    call.result(name + "ms", rows[i].milliseconds);
    call.result(name + "tokens_per_second", rows[i].tokens_per_second);
    call.result(name + "utilisation", rows[i].utilisation);
  }
}

/// One prompt through the layer of the study, on tensors of the grader's: what comes out of it is
/// compared.
void prefill(GuestCall& call, const LayerContext& context) {
  prefill_forward(context, rooflab::shape_of(call), rooflab::weights_of<float>(call),
                  call.tensor<float>("hidden"), call.tensor<const int>("positions"),
                  rooflab::size(call, "batch"), rooflab::size(call, "length"),
                  KvCache<float>{call.tensor<float>("keys"), call.tensor<float>("values"),
                                 rooflab::size(call, "capacity")});
}

}  // namespace

ROOFLAB_ENTRY(layer_study) {
  const cudaStream_t stream = rooflab::stream_of(call);
  rooflab::Workspace workspace =
      rooflab::kept_workspace(call, rooflab::workspace_bytes(kShape, kMostTokens));
  const auto& cublas = call.kept<rooflab::CublasHandle>("cuBLAS", stream);
  const LayerContext context = {cublas.get(), stream, workspace};
  if (call.text("function") == "prefill") return prefill(call, context);

  const Arrays arrays(stream);
  const rooflab::GpuAtHand gpu = rooflab::gpu_at_hand();
  const LayerStudyDevice device{.name = gpu.name,
                                .gpu = gpu.peaks,
                                .kind = gpu.kind,
                                .context = context,
                                .shape = kShape,
                                .weights = arrays.weights(),
                                .hidden = arrays.hidden(),
                                .positions = arrays.positions(),
                                .cache = arrays.cache()};
  const rooflab::ScratchFolder folder;
  const LayerStudy study = layer_study(device, folder.path());

  call.result("flops_per_second", device.gpu.flops_per_second);
  pass_on(call, "prefill", study.prefill);
  pass_on(call, "decode", study.decode);
  pass_on(call, "decode_without_cache", study.decode_without_cache);
  for (const char* file :
       {"prefill.json", "prefill.csv", "prefill.svg", "decode.json", "decode.csv", "decode.svg"}) {
    call.result(file, folder.contents(file));
  }
}

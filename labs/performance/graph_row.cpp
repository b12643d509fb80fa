#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "graph.h"
#include "performance/arrays.h"
#include "performance/own_stream.h"
#include "performance/row.h"

namespace rooflab::performance {
namespace {

using T = __half;
using eager::DecoderShape;
using eager::DecoderWeights;
using eager::DecodeStep;

DecoderShape shape_of(bool small) {
  // The full one is Gemma 3 270M's.
  const int head_dim = small ? 32 : 256;
  return {.batch = 1,
          .hidden = small ? 64 : 640,
          .intermediate = small ? 128 : 2048,
          .query_heads = 4,
          .key_value_heads = 1,
          .head_dim = head_dim,
          .capacity = small ? 64 : 1024,
          .epsilon = 1e-6F,
          .attention_scale = 1 / std::sqrt(static_cast<float>(head_dim))};
}

/// A layer with weights, and `steps` tokens to decode.
class Decoding {
 public:
  Decoding(cublasHandle_t cublas, bool small, int steps)
      : shape_(shape_of(small)),
        steps_(steps),
        weights_(elements_of_weights(), 1, 0.05),
        cache_(2 * cache_elements(), 2),
        inputs_(static_cast<std::size_t>(steps) * shape_.hidden, 3),
        positions_(positions(steps)),
        by_graph_(inputs_.size()),
        by_launches_(inputs_.size()),
        memory_(kWorkspaceBytes),
        workspace_(memory_.data(), kWorkspaceBytes),
        step_(cublas, shape_, weights(), {cache_.data(), cache_.data() + cache_elements()},
              workspace_) {
    CUDA_CHECK(cudaDeviceSynchronize());
  }

  int steps() const { return steps_; }
  const DecoderShape& shape() const { return shape_; }

  void by_graph(int steps) {
    decode_steps<T>(step_, inputs_.data(), positions_.data(), by_graph_.data(), steps,
                    stream_.get());
  }
  /// The same without a graph: each kernel is launched in each step.
  void by_launches(int steps) {
    const std::size_t size = shape_.hidden;
    for (int i = 0; i < steps; ++i) {
      copy(step_.input(), inputs_.data() + i * size, size);
      copy(step_.position(), positions_.data() + i, 1);
      step_.launch(stream_.get());
      copy(by_launches_.data() + i * size, step_.output(), size);
    }
  }
  std::string mismatch() const {
    const std::vector<T> expected = by_launches_.host();
    return by_graph_.mismatch([&](std::size_t i) {
      const double value = widened(expected[i]);
      return Wanted{value, 0x1p-8 * (1 + std::abs(value))};  // cuBLAS may sum in another order
    });
  }

 private:
  static constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

  std::size_t cache_elements() const {
    return static_cast<std::size_t>(shape_.key_value_heads) * shape_.capacity * shape_.head_dim;
  }
  std::size_t elements_of_weights() const {
    const std::size_t queries = static_cast<std::size_t>(shape_.query_heads) * shape_.head_dim;
    const std::size_t keys = static_cast<std::size_t>(shape_.key_value_heads) * shape_.head_dim;
    const std::size_t hidden = shape_.hidden;
    const std::size_t largest =
        std::max({hidden * std::max<std::size_t>(queries, shape_.intermediate), hidden * keys,
                  static_cast<std::size_t>(shape_.capacity) * shape_.head_dim});
    return largest;
  }
  /// All of them share their numbers: what they are does not matter here.
  DecoderWeights<T> weights() const {
    const T* w = weights_.data();
    return {w, w, w, w, w, w, w, w, w, w, w, w, w, w, w};
  }
  static std::vector<int> positions(int steps) {
    std::vector<int> all;
    for (int i = 0; i < steps; ++i) all.push_back(i);
    return all;
  }
  template <typename Element>
  void copy(Element* to, const Element* from, std::size_t count) const {
    CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(Element), cudaMemcpyDeviceToDevice,
                               stream_.get()));
  }

  DecoderShape shape_;
  int steps_;
  Input<T> weights_;
  Input<T> cache_;
  Input<T> inputs_;
  DeviceArray<int> positions_;
  Output<T> by_graph_;
  Output<T> by_launches_;
  DeviceMemory<char> memory_;
  Workspace workspace_;
  DecodeStep<T> step_;
  Stream stream_;
};

Row graph_row(const Setting& setting) {
  const int steps = setting.small ? 4 : 256;
  const auto p = std::make_shared<Decoding>(setting.cublas, setting.small, steps);
  Row row;
  row.size = "one step of a layer, hidden " + std::to_string(p->shape().hidden);
  row.reference = "its kernels launched one by one";
  row.goal = 2;
  row.measure = [p](int rounds) -> RowTimes {
    const int all = p->steps();
    const int half = all / 2;
    // Half as many steps taken off: what is left is replays, without the capture.
    const auto times = take_turns({[=] { p->by_graph(half); }, [=] { p->by_graph(all); },
                                   [=] { p->by_launches(half); }, [=] { p->by_launches(all); }},
                                  rounds);
    return {(times[1] - times[0]) / (all - half), (times[3] - times[2]) / (all - half)};
  };
  row.mismatch = [p] { return p->mismatch(); };
  return row;
}

}  // namespace

std::vector<RowMaker> graph_rows() { return {{"decode_steps, half", "fp32", graph_row}}; }

}  // namespace rooflab::performance

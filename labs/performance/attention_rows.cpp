#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <memory>

#include "flash_decode.h"
#include "flash_tensor_cores.h"
#include "performance/arrays.h"
#include "performance/row.h"

namespace rooflab::performance {
namespace {

/// Attention of one shape, and what it is in fp64.
template <typename T>
struct Attention {
  explicit Attention(const AttentionShape& of)
      : shape(of), q(rows() * of.head_dim, 1), k(keys(), 2), v(keys(), 3), out(q.size()) {}

  std::size_t rows() const {
    return static_cast<std::size_t>(shape.batch) * shape.query_heads * shape.query_length;
  }
  std::size_t keys() const {
    return static_cast<std::size_t>(shape.batch) * shape.key_value_heads * shape.key_length *
           shape.head_dim;
  }
  /// Keys that the query of a row sees: all up to its own place.
  int visible(std::size_t row) const {
    const int query = static_cast<int>(row % shape.query_length);
    return shape.causal ? query + 1 + shape.key_length - shape.query_length : shape.key_length;
  }

  /// The row's output, kept: its elements are asked for one after the other.
  const std::vector<double>& expected(std::size_t row) {
    if (row == kept_row_) return kept_;
    const std::size_t head = row / shape.query_length;
    const int group = shape.query_heads / shape.key_value_heads;
    const std::size_t of_batch = head / shape.query_heads * shape.key_value_heads;
    const std::size_t key_head = of_batch + head % shape.query_heads / group;
    const std::size_t first = key_head * shape.key_length * shape.head_dim;
    const std::size_t width = shape.head_dim;
    kept_.assign(width, 0);
    double sum = 0;
    for (int j = 0; j < visible(row); ++j) {
      double score = 0;
      for (std::size_t d = 0; d < width; ++d)
        score += q[row * width + d] * k[first + j * width + d];
      const double weight = std::exp(score * shape.scale);  // scores of such inputs are small
      sum += weight;
      for (std::size_t d = 0; d < width; ++d) kept_[d] += weight * v[first + j * width + d];
    }
    for (double& value : kept_) value /= sum;
    kept_row_ = row;
    return kept_;
  }

  /// Every row that is a multiple of `step`. Means of n values around 0 have a size of
  /// 1 / sqrt(n), and what rounding of the weights adds is a part of that.
  std::string mismatch(double unit, std::size_t step) {
    const auto wanted = [&](std::size_t i) -> Wanted {
      const std::size_t row = i / shape.head_dim;
      if (row % step != 0) return {0, 2};  // a mean of values up to 1
      const double value = expected(row)[i % shape.head_dim];
      return {value, unit * (std::abs(value) + 1 / std::sqrt(visible(row)))};
    };
    return out.mismatch(wanted);
  }

  AttentionShape shape;
  Input<T> q, k, v;
  Output<T> out;

 private:
  std::size_t kept_row_ = static_cast<std::size_t>(-1);
  std::vector<double> kept_;
};

AttentionShape shape_of(int batch, int query_heads, int key_value_heads, int query_length,
                        int key_length) {
  constexpr int kHeadDim = 128;
  return {.batch = batch,
          .query_heads = query_heads,
          .key_value_heads = key_value_heads,
          .query_length = query_length,
          .key_length = key_length,
          .head_dim = kHeadDim,
          .causal = true,
          .window = 0,
          .scale = 1 / std::sqrt(static_cast<float>(kHeadDim))};
}

Row decode_row(const Setting& setting) {
  const AttentionShape shape =
      setting.small ? shape_of(1, 8, 2, 1, 1024) : shape_of(8, 32, 8, 1, 16384);
  const int splits = setting.small ? 8 : 16;
  using T = __half;
  struct Problem : Attention<T> {
    Problem(const AttentionShape& shape, std::size_t floats)
        : Attention<T>(shape),
          memory(floats),
          workspace(memory.data(), memory.size() * sizeof(float)) {}
    DeviceMemory<float> memory;
    Workspace workspace;
  };
  constexpr std::size_t kAlignment = 256;  // floats: 1 KiB
  const std::size_t parts = static_cast<std::size_t>(shape.batch) * shape.query_heads * splits;
  const auto p = std::make_shared<Problem>(shape, parts * (shape.head_dim + 2) + kAlignment);
  Row row;
  row.size = std::to_string(shape.batch * shape.key_value_heads) + " heads, " +
             std::to_string(shape.key_length) + " keys";
  row.reference = "copy of as many bytes";
  row.goal = 0.85;
  row.bytes = sizeof(T) * (2.0 * static_cast<double>(p->keys()) + 2.0 * p->q.size());
  row.flops = 4.0 * static_cast<double>(p->rows()) * shape.key_length * shape.head_dim;
  row.peak = "fp32";
  row.measure = [=, copied_us = row.bytes / setting.copy_bytes_per_us](int rounds) -> RowTimes {
    const auto call = [=] {
      flash_decode<T>(p->q.data(), p->k.data(), p->v.data(), p->out.data(), p->shape, splits,
                      p->workspace, nullptr);
    };
    return {take_turns({call}, rounds).front(), copied_us};
  };
  row.mismatch = [p] { return p->mismatch(0x1p-9, 1); };
  return row;
}

Row flash_row(const Setting& setting) {
  using T = __nv_bfloat16;
  const AttentionShape shape =
      setting.small ? shape_of(1, 2, 2, 256, 256) : shape_of(1, 16, 16, 8192, 8192);
  struct Problem : Attention<T> {
    explicit Problem(const AttentionShape& shape) : Attention<T>(shape), log_sum_exp(rows()) {}
    DeviceMemory<float> log_sum_exp;
  };
  const auto p = std::make_shared<Problem>(shape);
  const double pairs = 0.5 * static_cast<double>(p->rows()) * (shape.key_length + 1);
  Row row;
  row.size = std::to_string(shape.query_heads) + " heads, " + std::to_string(shape.key_length) +
             " tokens, d = " + std::to_string(shape.head_dim) + ", causal";
  row.reference = "PyTorch's SDPA";
  row.goal = 0.50;
  row.flops = 4 * pairs * shape.head_dim;
  row.bytes = 4.0 * sizeof(T) * static_cast<double>(p->q.size());
  row.peak = "bf16_tensor";
  row.measure = [p, sdpa = setting.sdpa_us](int rounds) -> RowTimes {
    const auto call = [p] {
      flash_tensor_cores<T>(p->q.data(), p->k.data(), p->v.data(), p->out.data(),
                            p->log_sum_exp.data(), p->shape, nullptr);
    };
    return {take_turns({call}, rounds).front(), sdpa};
  };
  row.mismatch = [p, small = setting.small] {
    return p->mismatch(0x1p-6, small ? 1 : 997);  // a prime: rows of all heads and tiles
  };
  return row;
}

}  // namespace

std::vector<RowMaker> attention_rows() {
  return {{"flash_decode, half", "fp32", decode_row},
          {"flash_tensor_cores, bf16", "bf16_tensor", flash_row}};
}

}  // namespace rooflab::performance

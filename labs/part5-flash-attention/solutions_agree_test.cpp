// The solutions compute one thing in several ways: held against each other on the simulated GPU,
// with its checkers on and without the oracle.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "flash_decode.h"
#include "flash_forward.h"
#include "flash_grouped.h"
#include "flash_masked.h"
#include "flash_mma_softmax.h"
#include "flash_online.h"
#include "flash_softmax.h"
#include "flash_tensor_cores.h"
#include "sdpa.h"
#include "toolkit/check_cublas.h"
#include "toolkit/testing/device_array.h"

namespace rooflab {
namespace {

template <typename T>
constexpr double kUnit = 0x1p-18;  // of sums in fp32
template <>
constexpr double kUnit<__half> = 0x1p-11;
template <>
constexpr double kUnit<__nv_bfloat16> = 0x1p-8;

/// Inputs of one shape, and what each form makes of them.
template <typename T>
class Attention {
 public:
  explicit Attention(const AttentionShape& shape)
      : shape_(shape),
        q_(varied<T>(queries(), 1, 4)),
        k_(varied<T>(keys(), 2)),
        v_(varied<T>(keys(), 3)) {}

  std::vector<T> three_steps() const {
    cublasHandle_t handle = nullptr;
    CUBLAS_CHECK(cublasCreate(&handle));
    const DeviceArray<T> out(std::vector<T>(queries(), garbage()));
    sdpa<T>(handle, q_.data(), k_.data(), v_.data(), out.data(), shape_, nullptr);
    std::vector<T> host = out.host();
    CUBLAS_CHECK(cublasDestroy(handle));
    return host;
  }

  template <typename Function>
  std::vector<T> flash(const Function& function) const {
    const DeviceArray<T> out(std::vector<T>(queries(), garbage()));
    const DeviceArray<float> log_sum_exp(std::vector<float>(rows(), NAN));
    function(q_.data(), k_.data(), v_.data(), out.data(), log_sum_exp.data(), shape_, nullptr);
    return out.host();
  }

  std::vector<T> decode(int splits) const {
    const DeviceArray<T> out(std::vector<T>(queries(), garbage()));
    const std::size_t floats = rows() * static_cast<std::size_t>(splits) * (shape_.head_dim + 2);
    const DeviceArray<float> memory(std::vector<float>(floats + 256));
    Workspace workspace(memory.data(), (floats + 256) * sizeof(float));
    flash_decode<T>(q_.data(), k_.data(), v_.data(), out.data(), shape_, splits, workspace,
                    nullptr);
    return out.host();
  }

 private:
  static T garbage() { return rounded<T>(7); }
  std::size_t rows() const {
    return static_cast<std::size_t>(shape_.batch) * shape_.query_heads * shape_.query_length;
  }
  std::size_t queries() const { return rows() * shape_.head_dim; }
  std::size_t keys() const {
    return static_cast<std::size_t>(shape_.batch) * shape_.key_value_heads * shape_.key_length *
           shape_.head_dim;
  }

  AttentionShape shape_;
  DeviceArray<T> q_, k_, v_;
};

/// Values lie between -1 and 1: so do the results, and each form rounds its weights and its result.
template <typename T>
void expect_same(const std::vector<T>& got, const std::vector<T>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_LE(std::abs(widened(got[i]) - widened(expected[i])), 4 * kUnit<T>) << i;
  }
}

AttentionShape shape(int queries, int keys, int head_dim, bool causal, int window = 0) {
  return {2, 4, 2, queries, keys, head_dim, causal, window, 1 / std::sqrt(float(head_dim))};
}

const AttentionShape kShapes[] = {shape(1, 1, 64, false),     shape(33, 70, 64, false),
                                  shape(70, 70, 128, true),   shape(5, 40, 256, true),
                                  shape(80, 20, 64, true),    shape(40, 40, 128, true, 7),
                                  shape(35, 50, 256, true, 9)};

template <typename T>
class SolutionsTest : public testing::Test {};

using Types = testing::Types<float, __half, __nv_bfloat16>;
TYPED_TEST_SUITE(SolutionsTest, Types, );

TYPED_TEST(SolutionsTest, FlashAttentionGivesWhatThreeStepsGive) {
  for (const AttentionShape& shape : kShapes) {
    const Attention<TypeParam> attention(shape);
    SCOPED_TRACE(testing::Message() << shape.query_length << " queries, " << shape.key_length
                                    << " keys of " << shape.head_dim);
    expect_same(attention.flash(flash_forward<TypeParam>), attention.three_steps());
  }
}

/// A step of the ladder, as the functions of Attention::flash.
auto step(void (*function)(const float*, const float*, const float*, float*, float*,
                           const AttentionShape&)) {
  return [=](const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
             const AttentionShape& shape,
             cudaStream_t) { function(q, k, v, out, log_sum_exp, shape); };
}

/// One sequence and one head of 64 elements.
AttentionShape one_head(int queries, int keys, bool causal = false, int window = 0) {
  return {1, 1, 1, queries, keys, 64, causal, window, 0.125f};
}

TEST(StepsTest, EachGivesWhatThreeStepsGive) {
  for (const AttentionShape& shape :
       {shape(33, 70, 64, false), shape(80, 20, 64, true), shape(40, 40, 64, true, 7)}) {
    const Attention<float> attention(shape);
    expect_same(attention.flash(step(flash_grouped)), attention.three_steps());
  }
  for (const AttentionShape& shape :
       {one_head(1, 1), one_head(33, 70), one_head(80, 20, true), one_head(70, 100, true, 40)}) {
    const Attention<float> attention(shape);
    expect_same(attention.flash(step(flash_masked)), attention.three_steps());
  }
  const Attention<float> whole_tiles(one_head(64, 192));
  expect_same(whole_tiles.flash(step(flash_online)), whole_tiles.three_steps());
  const Attention<float> one_tile(one_head(96, 32));
  const auto softmax = [](const float* q, const float* k, const float* v, float* out,
                          float* log_sum_exp, const AttentionShape& shape, cudaStream_t) {
    flash_softmax(q, k, v, out, log_sum_exp, shape.query_length, shape.scale);
  };
  expect_same(one_tile.flash(softmax), one_tile.three_steps());
}

TYPED_TEST(SolutionsTest, PartsOfTheKeysGiveWhatThreeStepsGive) {
  for (const int head_dim : {64, 128, 256}) {
    const Attention<TypeParam> attention(shape(1, 90, head_dim, true));
    for (const int splits : {1, 4, 100}) {
      SCOPED_TRACE(testing::Message() << head_dim << " in " << splits << " parts");
      expect_same(attention.decode(splits), attention.three_steps());
    }
  }
}

TEST(StepsTest, SoftmaxBetweenTensorCoresGivesWhatThreeStepsGive) {
  const Attention<__half> one_tile(one_head(96, 32));
  const auto softmax = [](const __half* q, const __half* k, const __half* v, __half* out,
                          float* log_sum_exp, const AttentionShape& shape, cudaStream_t) {
    flash_mma_softmax(q, k, v, out, log_sum_exp, shape.query_length, shape.scale);
  };
  expect_same(one_tile.flash(softmax), one_tile.three_steps());
}

// Compiled for the oldest GPU, which has no bf16 on its tensor cores.
TEST(TensorCoresTest, GiveWhatThreeStepsGive) {
  for (const AttentionShape& shape : kShapes) {
    const Attention<__half> attention(shape);
    SCOPED_TRACE(testing::Message() << shape.query_length << " queries, " << shape.key_length
                                    << " keys of " << shape.head_dim);
    expect_same(attention.flash(flash_tensor_cores<__half>), attention.three_steps());
  }
}

}  // namespace
}  // namespace rooflab

#include "toolkit/cuda_error.h"
#include "toolkit/linear.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toolkit/check_cublas.h"
#include "toolkit/testing/device_array.h"

namespace rooflab {
namespace {

struct Sizes {
  int tokens, in_features, out_features;
};

template <typename T>
class LinearTest : public testing::Test {
 protected:
  LinearTest() {
    CUBLAS_CHECK(cublasCreate(&handle_));
    CUDA_CHECK(cudaStreamCreate(&stream_));
  }
  ~LinearTest() override {
    cublasDestroy(handle_);
    cudaStreamDestroy(stream_);
  }

  cublasHandle_t handle_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

using Types = testing::Types<float, __half, __nv_bfloat16>;
TYPED_TEST_SUITE(LinearTest, Types, );

template <typename T>
constexpr double kUnit = 0x1p-24;
template <>
constexpr double kUnit<__half> = 0x1p-11;
template <>
constexpr double kUnit<__nv_bfloat16> = 0x1p-8;

/// What one addition may lose of a sum in fp32. Tensor cores cut digits off where others round, of
/// every addend and of the sum (Fasi et al., "Numerical behavior of NVIDIA tensor cores", 2021).
template <typename T>
constexpr double kLostBySum = sizeof(T) == 4 ? 0x1p-24 : 0x1p-22;

/// Holds y against sums in fp64. A sum of n products in fp32, in any order, is off by at most about
/// n times what an addition loses of the sum of their magnitudes; then it is rounded to T.
template <typename T>
void expect_product(const std::vector<T>& x, const std::vector<T>& weight, const std::vector<T>& y,
                    const Sizes& sizes) {
  for (int token = 0; token < sizes.tokens; ++token) {
    for (int out = 0; out < sizes.out_features; ++out) {
      double sum = 0, magnitude = 0;
      for (int in = 0; in < sizes.in_features; ++in) {
        const double product = widened(x[token * sizes.in_features + in]) *
                               widened(weight[out * sizes.in_features + in]);
        sum += product;
        magnitude += std::abs(product);
      }
      const double in_fp32 = (sizes.in_features + 1) * kLostBySum<T> * magnitude;
      const double tolerance = in_fp32 + kUnit<T> * (std::abs(sum) + in_fp32);
      const double got = widened(y[token * sizes.out_features + out]);
      ASSERT_LE(std::abs(got - sum), tolerance) << "y[" << token << "][" << out << "], x ("
                                                << sizes.tokens << ", " << sizes.in_features << ")";
    }
  }
}

TYPED_TEST(LinearTest, MultipliesByTheTransposedWeight) {
  for (const Sizes& sizes : {Sizes{1, 1, 1}, Sizes{3, 5, 7}, Sizes{17, 33, 65}, Sizes{1, 640, 129},
                             Sizes{37, 1, 2}, Sizes{64, 96, 32}}) {
    const int outputs = sizes.tokens * sizes.out_features;
    const auto x = varied<TypeParam>(sizes.tokens * sizes.in_features, 1);
    const auto weight = varied<TypeParam>(sizes.out_features * sizes.in_features, 2);
    const DeviceArray<TypeParam> on_x(x), on_weight(weight);
    // What y holds before counts for nothing; what lies behind it stays.
    std::vector<TypeParam> before(outputs + 1, rounded<TypeParam>(NAN));
    before.back() = rounded<TypeParam>(5.0);
    const DeviceArray<TypeParam> on_y(before);
    linear(this->handle_, on_x.data(), on_weight.data(), on_y.data(), sizes.tokens,
           sizes.in_features, sizes.out_features, this->stream_);
    const std::vector<TypeParam> y = on_y.host();
    expect_product(x, weight, y, sizes);
    EXPECT_EQ(widened(y.back()), 5.0);
  }
}

TYPED_TEST(LinearTest, LeavesTheHandleOnItsStream) {
  const DeviceArray<TypeParam> one(varied<TypeParam>(1, 3)), y(varied<TypeParam>(1, 4));
  linear(this->handle_, one.data(), one.data(), y.data(), 1, 1, 1, this->stream_);
  cudaStream_t stream = nullptr;
  CUBLAS_CHECK(cublasGetStream(this->handle_, &stream));
  EXPECT_EQ(stream, this->stream_);
}

TYPED_TEST(LinearTest, LeavesTheHandlesArithmeticAsItWas) {
  const DeviceArray<TypeParam> one(varied<TypeParam>(1, 3)), y(varied<TypeParam>(1, 4));
  for (const cublasMath_t before : {CUBLAS_DEFAULT_MATH, CUBLAS_PEDANTIC_MATH}) {
    CUBLAS_CHECK(cublasSetMathMode(this->handle_, before));
    linear(this->handle_, one.data(), one.data(), y.data(), 1, 1, 1, this->stream_);
    cublasMath_t after = CUBLAS_TF32_TENSOR_OP_MATH;
    CUBLAS_CHECK(cublasGetMathMode(this->handle_, &after));
    EXPECT_EQ(after, before);
  }
}

TYPED_TEST(LinearTest, LeavesYAloneWithoutTokens) {
  const DeviceArray<TypeParam> weight(varied<TypeParam>(6, 5));
  const auto before = varied<TypeParam>(2, 6);
  const DeviceArray<TypeParam> y(before);
  linear(this->handle_, weight.data(), weight.data(), y.data(), 0, 3, 2, this->stream_);
  EXPECT_EQ(widened(y.host()[0]), widened(before[0]));
  EXPECT_EQ(widened(y.host()[1]), widened(before[1]));
}

TYPED_TEST(LinearTest, SaysWhatToLookAtWhenASizeIsWrong) {
  const DeviceArray<TypeParam> one(varied<TypeParam>(1, 7)), y(varied<TypeParam>(1, 8));
  try {
    linear(this->handle_, one.data(), one.data(), y.data(), 1, -1, 1, this->stream_);
    FAIL() << "a negative size went unseen";
  } catch (const CudaError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("linear.cpp"));
    EXPECT_THAT(error.what(), testing::HasSubstr("cublasGemmEx"));
    EXPECT_THAT(error.what(), testing::HasSubstr("sizes and leading dimensions"));
  }
}

}  // namespace
}  // namespace rooflab

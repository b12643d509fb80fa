#include <gtest/gtest.h>

#include <cmath>

#include "simgpu/exec/engine_testing.h"

/// wmma against a product in double precision. Inputs are small integers, so every sum is exact.
namespace simgpu::testing {
namespace {

std::uint16_t f16_of(int value) {
  if (value == 0) return 0;
  const int magnitude = std::abs(value);
  const int exponent = std::ilogb(magnitude);
  const auto fraction = static_cast<unsigned>(magnitude << (10 - exponent)) & 0x3FFU;
  return static_cast<std::uint16_t>((value < 0 ? 0x8000U : 0U) |
                                    static_cast<unsigned>(exponent + 15) << 10 | fraction);
}
std::uint16_t bf16_of(int value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}

struct Product {
  int m, n;
  std::vector<int> a, b;  // a[row][k], b[column][k]
  double at(int row, int column) const {
    double sum = 1.0;
    for (int k = 0; k < 48; ++k) sum += a[row * 48 + k] * b[column * 48 + k];
    return sum;
  }
};

Product make_product(int m, int n) {
  Product product{m, n, std::vector<int>(m * 48), std::vector<int>(n * 48)};
  for (int i = 0; i < m * 48; ++i) product.a[i] = i * 7 % 11 - 5;
  for (int i = 0; i < n * 48; ++i) product.b[i] = i * 5 % 7 - 3;
  return product;
}

template <class Encode>
std::vector<std::uint16_t> encoded(const std::vector<int>& values, Encode encode) {
  std::vector<std::uint16_t> bits;
  for (const int value : values) bits.push_back(encode(value));
  return bits;
}

template <class Encode>
void expect_product(const std::string& kernel, int m, int n, Encode encode) {
  Device device = Device::with_test_kernels();
  const Product product = make_product(m, n);
  const std::uint64_t a = device.put(encoded(product.a, encode));
  const std::uint64_t b = device.put(encoded(product.b, encode));
  const std::uint64_t c = device.put(std::vector<float>(2 * m * n));
  const LaunchResult result = device.run(kernel, {}, a, b, c);
  ASSERT_EQ(result.status, LaunchStatus::ok) << result.findings.front().message;
  EXPECT_TRUE(result.findings.empty()) << result.findings.front().message;
  const std::vector<float> values = device.get<float>(c, 2 * m * n);
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      EXPECT_EQ(values[row * n + column], product.at(row, column));
      EXPECT_EQ(values[m * n + column * m + row], product.at(row, column));
    }
  }
  const char* type = kernel == "tiles_bf16" ? "bf16_tensor" : "fp16_tensor";
  EXPECT_EQ(result.counters.flops.at(type), static_cast<std::uint64_t>(2 * m * n * 48));
}

TEST(Tensor, SquareTilesOfF16) { expect_product("tiles_f16", 16, 16, f16_of); }
TEST(Tensor, TallTilesOfF16) { expect_product("tiles_f16_tall", 32, 8, f16_of); }
TEST(Tensor, WideTilesOfF16) { expect_product("tiles_f16_wide", 8, 32, f16_of); }
TEST(Tensor, SquareTilesOfBf16) { expect_product("tiles_bf16", 16, 16, bf16_of); }

TEST(Tensor, SumsInF16) {
  Device device = Device::with_test_kernels();
  const Product product = make_product(16, 16);
  const std::uint64_t a = device.put(encoded(product.a, f16_of));
  const std::uint64_t b = device.put(encoded(product.b, f16_of));
  const std::uint64_t c = device.put(std::vector<std::uint16_t>(512));
  ASSERT_EQ(device.run("tiles_f16_sum", {}, a, b, c).status, LaunchStatus::ok);
  const std::vector<std::uint16_t> values = device.get<std::uint16_t>(c, 512);
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(values[i], f16_of(static_cast<int>(product.at(i / 16, i % 16))));
  }
}

}  // namespace
}  // namespace simgpu::testing

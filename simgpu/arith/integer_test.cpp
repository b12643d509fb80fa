#include "simgpu/arith/integer.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

namespace simgpu::arith {
namespace {

template <class Int>
std::vector<Int> operands(int random_count) {
  std::vector<Int> values;
  for (const std::uint64_t bits : std::initializer_list<std::uint64_t>{0,
                                                                       1,
                                                                       2,
                                                                       3,
                                                                       7,
                                                                       31,
                                                                       32,
                                                                       33,
                                                                       63,
                                                                       64,
                                                                       255,
                                                                       256,
                                                                       ~0ull,
                                                                       ~1ull,
                                                                       0x7f,
                                                                       0x80,
                                                                       0x7fff,
                                                                       0x8000,
                                                                       0x7fffff,
                                                                       0x800000,
                                                                       0xffffff,
                                                                       0x7fffffff,
                                                                       0x80000000,
                                                                       0xffffffff,
                                                                       0x7fffffffffffffff,
                                                                       0x8000000000000000,
                                                                       0x5555555555555555}) {
    values.push_back(static_cast<Int>(bits));
  }
  std::mt19937_64 random(51);
  for (int i = 0; i < random_count; ++i)
    values.push_back(static_cast<Int>(random() >> random() % 64));
  return values;
}

template <class Int>
class IntegerArithmetic : public testing::Test {};
using Types = testing::Types<std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                             std::uint64_t>;
TYPED_TEST_SUITE(IntegerArithmetic, Types);

TYPED_TEST(IntegerArithmetic, AgreesWithExactArithmeticCutToTheWidth) {
  using Int = TypeParam;
  constexpr int kBits = 8 * sizeof(Int);
  for (const Int a : operands<Int>(60)) {
    for (const Int b : operands<Int>(60)) {
      const auto x = static_cast<Int128>(a);
      const auto y = static_cast<Int128>(b);
      // 64 x 64 unsigned bits overflow a signed 128-bit product; the bits are those of the unsigned
      // one.
      const auto product = static_cast<Int128>(static_cast<Uint128>(x) * static_cast<Uint128>(y));
      ASSERT_EQ(add(a, b), static_cast<Int>(x + y));
      ASSERT_EQ(sub(a, b), static_cast<Int>(x - y));
      ASSERT_EQ(neg(a), static_cast<Int>(-x));
      ASSERT_EQ(mul_lo(a, b), static_cast<Int>(product));
      const auto high = std::is_signed_v<Int>
                            ? static_cast<Int>(product >> kBits)
                            : static_cast<Int>(static_cast<Uint128>(product) >> kBits);
      ASSERT_EQ(mul_hi(a, b), high);
      ASSERT_EQ(mad_lo(a, b, Int{5}), static_cast<Int>(product + 5));
      ASSERT_EQ(mad_hi(a, b, Int{5}), static_cast<Int>(high + Int128{5}));
      ASSERT_TRUE(mul_wide(a, b) == static_cast<WideOf<Int>>(product));
      ASSERT_EQ(min(a, b), x < y ? a : b);
      ASSERT_EQ(max(a, b), x < y ? b : a);
      ASSERT_EQ(sad(a, b, Int{3}), static_cast<Int>((x < y ? y - x : x - y) + 3));
      if (y != 0) {
        ASSERT_EQ(div(a, b), static_cast<Int>(x / y));
        ASSERT_EQ(rem(a, b), static_cast<Int>(x % y));
      } else {
        ASSERT_EQ(div(a, b), static_cast<Int>(-1));
        ASSERT_EQ(rem(a, b), static_cast<Int>(-1));
      }
    }
    if constexpr (std::is_signed_v<Int>) {
      ASSERT_EQ(abs(a), static_cast<Int>(a < 0 ? -static_cast<Int128>(a) : static_cast<Int128>(a)));
      ASSERT_EQ(relu(a), a < 0 ? 0 : a);
    }
  }
}

TYPED_TEST(IntegerArithmetic, ClampsShiftAmountsToTheWidth) {
  using Int = TypeParam;
  constexpr std::uint32_t kBits = 8 * sizeof(Int);
  for (const Int a : operands<Int>(40)) {
    for (const std::uint32_t amount :
         {0u, 1u, 5u, 15u, 16u, 31u, 32u, 63u, 64u, 65u, 1u << 31, ~0u}) {
      const std::uint32_t limited = std::min(amount, kBits);
      const auto x = static_cast<Int128>(a);
      ASSERT_EQ(shl(a, amount), static_cast<Int>(static_cast<Uint128>(x) << limited));
      ASSERT_EQ(shr(a, amount), static_cast<Int>(x >> limited)) << +a << " >> " << amount;
    }
  }
}

template <class Int>
Int extracted_bit_by_bit(Int a, std::uint32_t position, std::uint32_t length) {
  const int top = 8 * sizeof(Int) - 1;
  const int pos = position & 0xff;
  const int len = length & 0xff;
  const auto bit = [&](int i) { return static_cast<std::uint64_t>(a) >> i & 1; };
  std::uint64_t sign = 0;
  if (std::is_signed_v<Int> && len > 0) sign = bit(std::min(pos + len - 1, top));
  std::uint64_t result = 0;
  for (int i = 0; i <= top; ++i) {
    const std::uint64_t value = i < len && pos + i <= top ? bit(pos + i) : sign;
    result |= value << i;
  }
  return static_cast<Int>(result);
}

template <class Int>
void check_fields() {
  using Bits = UnsignedOf<Int>;
  for (const Int a : operands<Int>(20)) {
    for (const std::uint32_t position :
         {0u, 1u, 7u, 31u, 32u, 33u, 63u, 64u, 200u, 255u, 256u, 260u}) {
      for (const std::uint32_t length : {0u, 1u, 8u, 31u, 32u, 33u, 63u, 64u, 255u, 256u, 257u}) {
        ASSERT_EQ(bfe(a, position, length), extracted_bit_by_bit(a, position, length))
            << +a << " [" << position << ", " << length << "]";
        const auto b = static_cast<Bits>(0x123456789abcdef1u);
        Bits expected = b;
        for (std::uint32_t i = 0; i < (length & 255) && i + (position & 255) < 8 * sizeof(Int);
             ++i) {
          const Bits bit = Bits{1} << (i + (position & 255));
          expected = (static_cast<Bits>(a) >> i & 1) != 0 ? expected | bit : expected & ~bit;
        }
        ASSERT_EQ(bfi(static_cast<Bits>(a), b, position, length), expected);
      }
    }
  }
}

TEST(BitFields, ExtractAndInsertBitByBit) {
  check_fields<std::int32_t>();
  check_fields<std::uint32_t>();
  check_fields<std::int64_t>();
  check_fields<std::uint64_t>();
}

template <class Int>
std::uint32_t found_bit_by_bit(Int a) {
  const bool sign = a < 0;
  for (int i = 8 * sizeof(Int) - 1; i >= 0; --i) {
    if (((static_cast<std::uint64_t>(a) >> i & 1) != 0) != sign)
      return static_cast<std::uint32_t>(i);
  }
  return ~0u;
}

TEST(BitFields, FindTheLeadingBit) {
  const auto check = [](auto a) {
    const std::uint32_t expected = found_bit_by_bit(a);
    ASSERT_EQ(bfind(a, false), expected) << a;
    const std::uint32_t top = 8 * sizeof(a) - 1;
    ASSERT_EQ(bfind(a, true), expected == ~0u ? ~0u : top - expected) << a;
  };
  for (const auto a : operands<std::int32_t>(60)) check(a);
  for (const auto a : operands<std::uint32_t>(60)) check(a);
  for (const auto a : operands<std::int64_t>(60)) check(a);
  for (const auto a : operands<std::uint64_t>(60)) check(a);
}

TEST(Bits, CountAndReverse) {
  for (const std::uint64_t a : operands<std::uint64_t>(100)) {
    std::uint64_t reversed = 0;
    std::uint32_t ones = 0;
    for (int i = 0; i < 64; ++i) {
      reversed |= (a >> i & 1) << (63 - i);
      ones += a >> i & 1;
    }
    ASSERT_EQ(brev(a), reversed);
    ASSERT_EQ(brev(static_cast<std::uint32_t>(a)), static_cast<std::uint32_t>(reversed >> 32));
    ASSERT_EQ(popc(a), ones);
    ASSERT_EQ(clz(a), a == 0 ? 64 : 63 - found_bit_by_bit(a));
  }
  EXPECT_EQ(clz(std::uint32_t{0}), 32u);
}

TEST(Carry, PropagatesThroughLongSums) {
  for (const auto a : operands<std::uint32_t>(40)) {
    for (const auto b : operands<std::uint32_t>(40)) {
      for (const bool in : {false, true}) {
        const std::uint64_t sum = std::uint64_t{a} + b + (in ? 1 : 0);
        const auto added = add_carry(a, b, in);
        ASSERT_EQ(added.value, static_cast<std::uint32_t>(sum));
        ASSERT_EQ(added.carry, sum >> 32 != 0);
        const std::int64_t difference = std::int64_t{a} - b - (in ? 1 : 0);
        const auto subtracted = sub_borrow(a, b, in);
        ASSERT_EQ(subtracted.value, static_cast<std::uint32_t>(difference));
        ASSERT_EQ(subtracted.carry, difference < 0);
      }
    }
  }
}

TEST(Saturation, ClampsSumsOfS32) {
  for (const auto a : operands<std::int32_t>(40)) {
    for (const auto b : operands<std::int32_t>(40)) {
      const auto clamp = [](long long x) {
        return static_cast<std::int32_t>(x > 2147483647      ? 2147483647
                                         : x < -2147483648LL ? -2147483648LL
                                                             : x);
      };
      ASSERT_EQ(add_sat_s32(a, b), clamp(static_cast<long long>(a) + b));
      ASSERT_EQ(sub_sat_s32(a, b), clamp(static_cast<long long>(a) - b));
      ASSERT_EQ(mad_hi_sat_s32(a, b, a), clamp((static_cast<long long>(a) * b >> 32) + a));
    }
  }
}

TEST(Multiply24, UsesTheLow24BitsOnly) {
  EXPECT_EQ(mul24_lo(0xff000003u, 0x01000005u), 15u);
  EXPECT_EQ(mul24_lo(std::int32_t{0x00ffffff}, std::int32_t{3}), -3);
  EXPECT_EQ(mul24_hi(0x00ffffffu, 0x00ffffffu),
            static_cast<std::uint32_t>(0xfffffe000001ull >> 16));
  EXPECT_EQ(mul24_hi(std::int32_t{-1}, std::int32_t{1}), -1);
  EXPECT_EQ(mad24_lo(3u, 4u, 0xffffffffu), 11u);
  EXPECT_EQ(mad24_hi_sat_s32(0x7fffff, 0x7fffff, 0x7fffffff), 0x7fffffff);
}

TEST(DotProduct, SumsBytesAndHalves) {
  const std::uint32_t a = 0x80ff7f01u;  // bytes 1, 127, -1 (255), -128 (128), lowest first
  const std::uint32_t b = 0x02030405u;
  EXPECT_EQ((dp4a<std::int8_t, std::int8_t>(a, b, 10)),
            static_cast<std::uint32_t>(10 + 1 * 5 + 127 * 4 - 1 * 3 - 128 * 2));
  EXPECT_EQ((dp4a<std::uint8_t, std::uint8_t>(a, b, 10)), 10u + 5 + 127 * 4 + 255 * 3 + 128 * 2);
  EXPECT_EQ((dp4a<std::uint8_t, std::int8_t>(0xffu, 0xffu, 0)), static_cast<std::uint32_t>(-255));
  EXPECT_EQ((dp2a<std::int16_t, std::int8_t>(0x8000fffeu, b, 1, false)),
            static_cast<std::uint32_t>(1 - 2 * 5 - 32768 * 4));
  EXPECT_EQ((dp2a<std::uint16_t, std::uint8_t>(0x8000fffeu, b, 1, true)),
            1u + 65534u * 3 + 32768u * 2);
}

TEST(Funnel, ShiftsAPairOfWords) {
  for (const std::uint32_t amount : {0u, 1u, 13u, 31u, 32u, 33u, 63u, 64u, ~0u}) {
    for (const auto a : operands<std::uint32_t>(10)) {
      for (const auto b : operands<std::uint32_t>(10)) {
        for (const bool wrap : {false, true}) {
          const std::uint32_t n = wrap ? amount % 32 : std::min(amount, 32u);
          const std::uint32_t left = n == 0 ? b : n == 32 ? a : b << n | a >> (32 - n);
          const std::uint32_t right = n == 0 ? a : n == 32 ? b : b << (32 - n) | a >> n;
          ASSERT_EQ(shf_left(a, b, amount, wrap), left);
          ASSERT_EQ(shf_right(a, b, amount, wrap), right);
        }
      }
    }
  }
}

TEST(Permute, PicksBytesAndReplicatesSigns) {
  const std::uint32_t a = 0x83020100u;
  const std::uint32_t b = 0x87060504u;
  EXPECT_EQ(prmt(a, b, 0x3210, PermuteMode::index), a);
  EXPECT_EQ(prmt(a, b, 0x7654, PermuteMode::index), b);
  EXPECT_EQ(prmt(a, b, 0xfb40, PermuteMode::index), 0xffff0400u);
  EXPECT_EQ(prmt(a, b, 0x8123, PermuteMode::index), 0x00010283u);
  EXPECT_EQ(prmt(a, b, 0, PermuteMode::f4e), 0x83020100u);
  EXPECT_EQ(prmt(a, b, 3, PermuteMode::f4e), 0x06050483u);
  EXPECT_EQ(prmt(a, b, 1, PermuteMode::b4e), 0x06870001u);
  EXPECT_EQ(prmt(a, b, 3, PermuteMode::b4e), 0x00010283u);
  EXPECT_EQ(prmt(a, b, 2, PermuteMode::rc8), 0x02020202u);
  EXPECT_EQ(prmt(a, b, 1, PermuteMode::ecl), 0x83020101u);
  EXPECT_EQ(prmt(a, b, 1, PermuteMode::ecr), 0x01010100u);
  EXPECT_EQ(prmt(a, b, 2, PermuteMode::ecr), 0x02020100u);
  EXPECT_EQ(prmt(a, b, 1, PermuteMode::rc16), 0x83028302u);
  EXPECT_EQ(prmt(a, b, 2, PermuteMode::rc16), 0x01000100u);
}

TEST(Logic, LooksUpEveryTruthTable) {
  const std::uint32_t a = 0xf0f0f0f0u;
  const std::uint32_t b = 0xcccccccc;
  const std::uint32_t c = 0xaaaaaaaau;
  for (std::uint32_t table = 0; table < 256; ++table) {
    // These operands enumerate the eight rows in every byte, so the result spells the table.
    ASSERT_EQ(lop3(a, b, c, table), table * 0x01010101u);
  }
}

TEST(Masks, CoverClampedAndWrappedFields) {
  EXPECT_EQ(bmsk(4, 8, false), 0xff0u);
  EXPECT_EQ(bmsk(4, 40, false), 0xfffffff0u);
  EXPECT_EQ(bmsk(36, 8, false), 0u);
  EXPECT_EQ(bmsk(36, 8, true), 0xff0u);
  EXPECT_EQ(bmsk(4, 40, true), 0xff0u);
  EXPECT_EQ(bmsk(0, 32, false), 0xffffffffu);
  EXPECT_EQ(szext(std::int32_t{0x80}, 8, false), -128);
  EXPECT_EQ(szext(std::uint32_t{0x180}, 8, false), 0x80u);
  EXPECT_EQ(szext(std::int32_t{0x80}, 40, false), 0x80);
  EXPECT_EQ(szext(std::int32_t{0x80}, 40, true), -128);
  EXPECT_EQ(szext(std::int32_t{-1}, 32, true), 0);
}

TEST(FindNthSet, WalksFromTheBaseInBothDirections) {
  const std::uint32_t mask = 0b1011'0100u;
  EXPECT_EQ(fns(mask, 0, 1), 2u);
  EXPECT_EQ(fns(mask, 2, 1), 2u);
  EXPECT_EQ(fns(mask, 3, 2), 5u);
  EXPECT_EQ(fns(mask, 7, -1), 7u);
  EXPECT_EQ(fns(mask, 6, -2), 4u);
  EXPECT_EQ(fns(mask, 4, 0), 4u);
  EXPECT_EQ(fns(mask, 3, 0), ~0u);
  EXPECT_EQ(fns(mask, 0, 5), ~0u);
  EXPECT_EQ(fns(mask, 31, std::numeric_limits<std::int32_t>::min()), ~0u);
}

}  // namespace
}  // namespace simgpu::arith

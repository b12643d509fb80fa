#include "labs/part2-roofline/oracle/stream_functions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "labs/oracle_support/rounding.h"

namespace rooflab {
namespace {

using In = StreamOperands;

/// The least number that rounds to an infinity in float32.
constexpr double kOverflow = 0x1.ffffffp127;
/// fp64 rounds too: a thousandth of an ulp of float32 is far more than that.
constexpr double kReferenceUlps = 1e-3;
/// Below the normal numbers, where e^-a overflows before 1 / (1 + e^-a) is lost.
constexpr double kLeastNormal = std::numeric_limits<float>::min();

double in_float_range(double value) {
  return std::abs(value) >= kOverflow
             ? std::copysign(std::numeric_limits<double>::infinity(), value)
             : value;
}

template <double (*kValue)(const In&)>
double value(const In& in) {
  return in_float_range(kValue(in));
}

double ulps(double count, double value) {
  return (count + kReferenceUlps) * ulp(ElementType::float32, value);
}

double exact(const In&, double) { return 0; }
double rounded_once(const In&, double value) { return ulps(0.5, value); }
double two_ulps(const In&, double value) { return ulps(2, value); }
/// The guide says two for log10f, of which a few of a million results are just beyond; and two for
/// rsqrtf, whose product rounds once more.
double three_ulps(const In&, double value) { return ulps(3, value); }
double four_ulps(const In&, double value) { return ulps(4, value); }
/// A product that rounds before the sum does, or, fused, does not.
double rounded_twice(const In& in, double value) {
  const double product = ulps(0.5, in.s * in.b);
  return product + ulps(0.5, std::abs(value) + product);
}
/// expf is within one ulp; its sum with one and the quotient round once each.
double sigmoid_tolerance(const In&, double value) { return ulps(4, value) + kLeastNormal; }

double copy(const In& in) { return in.a; }
double scale(const In& in) { return in.s * in.a; }
double add(const In& in) { return in.a + in.b; }
double triad(const In& in) { return in.a + in.s * in.b; }
double mul(const In& in) { return in.a * in.b; }
double sqrt(const In& in) { return std::sqrt(in.positive); }
double sin(const In& in) { return std::sin(in.a); }
double sigmoid(const In& in) { return 1 / (1 + std::exp(-in.a)); }
double log10(const In& in) { return std::log10(in.positive); }
double pow(const In& in) { return std::pow(in.base, in.exponent); }

constexpr std::array kFunctions = {
    StreamFunction{"copy", true, false, false, false, 0, value<copy>, exact},
    StreamFunction{"scale", true, false, false, false, 1, value<scale>, rounded_once},
    StreamFunction{"add", true, true, false, false, 1, value<add>, rounded_once},
    StreamFunction{"triad", true, true, false, false, 2, value<triad>, rounded_twice},
    StreamFunction{"mul", true, true, false, false, 1, value<mul>, rounded_once},
    StreamFunction{"sqrt", false, false, true, false, 1, value<sqrt>, rounded_once},
    StreamFunction{"sin", true, false, false, false, 1, value<sin>, two_ulps},
    StreamFunction{"sigmoid", true, false, false, false, 1, value<sigmoid>, sigmoid_tolerance},
    StreamFunction{"log10", false, false, true, false, 1, value<log10>, three_ulps},
    StreamFunction{"pow", false, false, false, true, 1, value<pow>, four_ulps},
};

double copy_adds_zero(const In& in) { return in.a + 0.0; }
double scale_adds(const In& in) { return in.s + in.a; }
double add_subtracts(const In& in) { return in.a - in.b; }
double triad_swapped(const In& in) { return in.b + in.s * in.a; }
double triad_without_scalar(const In& in) { return in.a + in.b; }
double triad_scales_the_sum(const In& in) { return in.s * (in.a + in.b); }
double sigmoid_of_minus_a(const In& in) { return 1 / (1 + std::exp(in.a)); }
/// e^a / (1 + e^a) in fp32: infinity over infinity where e^a overflows.
double sigmoid_that_overflows(const In& in) {
  constexpr double kLargestExponent = 88.7228;
  return in.a > kLargestExponent ? std::numeric_limits<double>::quiet_NaN() : sigmoid(in);
}
double natural_logarithm(const In& in) { return std::log(in.positive); }
double binary_logarithm(const In& in) { return std::log2(in.positive); }
double pow_swapped(const In& in) { return std::pow(in.exponent, in.base); }
double pow_of_the_absolute(const In& in) { return std::pow(std::abs(in.base), in.exponent); }
/// exp2f(exponent * log2f(a)) in fp32: a negative number has no logarithm.
double pow_by_logarithm(const In& in) {
  return in.base < 0 ? std::numeric_limits<double>::quiet_NaN() : pow(in);
}
/// What arithmetic makes of a NaN on a GPU, which is one for all.
double copy_multiplies(const In& in) {
  constexpr std::uint32_t kNanOfArithmetic = 0x7FFFFFFF;
  return std::isnan(in.a) ? static_cast<double>(std::bit_cast<float>(kNanOfArithmetic)) : in.a;
}
double reciprocal_root(const In& in) { return 1 / std::sqrt(in.positive); }
/// a * rsqrtf(a) in fp32: zero times infinity at both ends.
double root_by_reciprocal(const In& in) {
  const auto a = static_cast<float>(in.positive);
  return static_cast<double>(a * static_cast<float>(1 / std::sqrt(in.positive)));
}
double sine_of_degrees(const In& in) { return std::sin(in.a * std::acos(-1.0) / 180); }

constexpr const char* kTriadAdvice = "the triad is a[i] + s * b[i]: only b is multiplied";
constexpr const char* kLogarithmAdvice = "log10f is the logarithm to base ten, logf to base e";

constexpr std::array kMistakes = {
    StreamMistake{"copy", "RL0449", "copy adds 0 to what it copies, which makes 0 of -0",
                  "store what was loaded: a copy has every bit of its input",
                  value<copy_adds_zero>},
    StreamMistake{"copy", "RL0449", "copy computes with what it copies, and a NaN loses its bits",
                  "store what was loaded: a copy has every bit of its input",
                  value<copy_multiplies>},
    StreamMistake{"scale", "RL0441", "scale copies: the scalar is missing",
                  "the function has to know s: give it a member", value<copy>},
    StreamMistake{"scale", "RL0449", "scale adds the scalar instead of multiplying by it",
                  "out[i] = s * a[i]", value<scale_adds>},
    StreamMistake{"add", "RL0449", "add subtracts", "out[i] = a[i] + b[i]", value<add_subtracts>},
    StreamMistake{"triad", "RL0440", "the operands of triad are swapped: this is b + s * a",
                  kTriadAdvice, value<triad_swapped>},
    StreamMistake{"triad", "RL0441", "triad adds without the scalar: this is a + b", kTriadAdvice,
                  value<triad_without_scalar>},
    StreamMistake{"triad", "RL0440", "triad multiplies the sum: this is s * (a + b)", kTriadAdvice,
                  value<triad_scales_the_sum>},
    StreamMistake{"sigmoid", "RL0442", "the exponent of sigmoid has the wrong sign",
                  "sigmoid(x) = 1 / (1 + e^-x) goes to 1 for large x, and this goes to 0",
                  value<sigmoid_of_minus_a>},
    StreamMistake{"sigmoid", "RL0481", "e^a overflows in sigmoid: infinity over infinity",
                  "write 1 / (1 + e^-a): where e^-a overflows, the quotient is 0, which is right",
                  value<sigmoid_that_overflows>},
    StreamMistake{"log10", "RL0443", "this is the natural logarithm", kLogarithmAdvice,
                  value<natural_logarithm>},
    StreamMistake{"log10", "RL0443", "this is the logarithm to base 2", kLogarithmAdvice,
                  value<binary_logarithm>},
    StreamMistake{"pow", "RL0444", "the operands of pow are swapped: this is exponent to the a[i]",
                  "powf(base, exponent): the base changes from element to element",
                  value<pow_swapped>},
    StreamMistake{"pow", "RL0449", "pow takes the absolute value of a negative number",
                  "an odd power of a negative number is negative: powf has the sign",
                  value<pow_of_the_absolute>},
    StreamMistake{"pow", "RL0449", "pow has no value for a negative number",
                  "a whole power of a negative number is a number: powf takes both",
                  value<pow_by_logarithm>},
    StreamMistake{"sqrt", "RL0445", "this is the reciprocal of the square root",
                  "rsqrtf is 1 / sqrtf", value<reciprocal_root>, two_ulps},
    StreamMistake{
        "sqrt", "RL0449", "this is a * rsqrtf(a), which is 0 times infinity at 0",
        "sqrtf rounds once, and is right at 0 and at infinity, where the product is not a "
        "number",
        value<root_by_reciprocal>, three_ulps},
    StreamMistake{"sin", "RL0446", "the argument of sin is taken to be in degrees",
                  "the inputs are radians already: sinf takes them as they are",
                  value<sine_of_degrees>},
};

}  // namespace

std::span<const StreamFunction> stream_functions() { return kFunctions; }

const StreamFunction& stream_function(std::string_view name) {
  const auto found = std::ranges::find(kFunctions, name, &StreamFunction::name);
  if (found != kFunctions.end()) return *found;
  throw std::invalid_argument("stream.h has no function `" + std::string(name) +
                              "`; correct part.toml");
}

std::span<const StreamMistake> stream_mistakes() { return kMistakes; }

}  // namespace rooflab

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "grader/contract/elements.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/known_mistakes.h"
#include "labs/oracle_support/lent.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/recorded_calls.h"
#include "labs/oracle_support/rounding.h"
#include "labs/oracle_support/selection.h"
#include "labs/oracle_support/tensors.h"

namespace rooflab {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;
using ::testing::ThrowsMessage;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Gives `values` one after another, then fails.
std::function<double()> each_of(std::vector<double> values) {
  return [values = std::move(values), at = std::size_t{0}]() mutable { return values.at(at++); };
}

std::vector<double> stored_as(ElementType type, const std::vector<double>& values) {
  return widened(
      drawn("x", type, Role::input, {static_cast<std::int64_t>(values.size())}, each_of(values)));
}

TEST(LentTest, NamesWhatDoesNotComeBackAsItWas) {
  const simgpu::Activity activity;
  const auto complaints = [&](Values results) {
    std::vector<std::string> messages;
    for (const Complaint& complaint : complaints_of_lent({results, activity, true})) {
      messages.push_back(complaint.code.text() + ": " + complaint.message.text);
    }
    return messages;
  };
  EXPECT_THAT(complaints({}), IsEmpty());
  EXPECT_THAT(complaints({{kWorkspaceKept, std::int64_t{512}}}),
              ElementsAre(AllOf(HasSubstr("RL0499"), HasSubstr("workspace"))));
  EXPECT_THAT(complaints({{kHandleChanged, std::string("math mode")}}),
              ElementsAre(HasSubstr("another math mode")));
  EXPECT_THAT(complaints({{kHandleChanged, std::string("text of the guest's own")}}), IsEmpty());
}

TEST(TensorsTest, NansHaveBitsOfTheirOwn) {
  for (const ElementType type : {ElementType::float32, ElementType::bfloat16}) {
    Random random(3);
    const Tensor tensor = with_nans(filled("x", type, Role::input, {4}, {1, 2, 3, 4}), random);
    const std::vector<double> values = widened(tensor);
    const auto nan = std::ranges::find_if(values, [](double value) { return std::isnan(value); });
    ASSERT_NE(nan, values.end());
    for (const std::uint32_t common : {0x7FC0'0000U, 0x7FFF'FFFFU, 0xFFFF'FFFFU}) {
      EXPECT_FALSE(is_within_tolerance(*nan, std::bit_cast<float>(common), 0));
    }
    EXPECT_TRUE(is_within_tolerance(*nan, *nan, 0));
  }
}

TEST(ParametersTest, ReadsEachTypeByName) {
  const Values parameters{{"k", std::int64_t{64}}, {"theta", 1e4}, {"type", std::string("bf16")}};
  EXPECT_EQ(integer(parameters, "k", 64), 64);
  EXPECT_EQ(real(parameters, "theta"), 1e4);
  EXPECT_EQ(text(parameters, "type"), "bf16");
}

TEST(ParametersTest, SaysWhatAnIntegerMustBe) {
  EXPECT_THAT(
      [] {
        integer({{"k", std::int64_t{3}}}, "k", 4);
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("integer parameter `k` of at least 4")));
}

TEST(ParametersTest, NamesAParameterThatIsMissingOrHasAnotherTypeOrIsTooSmall) {
  const Values parameters{{"k", std::int64_t{0}}, {"theta", 1e4}};
  const auto refuses = [](const char* name) {
    return ThrowsMessage<std::invalid_argument>(
        AllOf(HasSubstr("`" + std::string(name) + "`"), HasSubstr("correct part.toml")));
  };
  EXPECT_THAT([&] { integer(parameters, "n"); }, refuses("n"));
  EXPECT_THAT([&] { integer(parameters, "k"); }, refuses("k"));
  EXPECT_THAT([&] { integer(parameters, "theta"); }, refuses("theta"));
  EXPECT_THAT([&] { real(parameters, "k"); }, refuses("k"));
  EXPECT_THAT([&] { text(parameters, "theta"); }, refuses("theta"));
}

TEST(TensorsTest, HoldsWhatIsDrawnInRowMajorOrder) {
  const Tensor x =
      drawn("x", ElementType::float32, Role::in_out, {2, 3}, each_of({1, 2, 3, 4, 5, 0.1}));
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.role, Role::in_out);
  EXPECT_THAT(x.shape, ElementsAre(2, 3));
  EXPECT_THAT(floats(x), ElementsAre(1, 2, 3, 4, 5, 0.1F));
  EXPECT_THAT(widened(x), ElementsAre(1, 2, 3, 4, 5, static_cast<double>(0.1F)));
}

TEST(TensorsTest, RoundsToTheNearestBfloat16AndTiesToEven) {
  // Neighbours of 1 and 1 + 2^-7: half-way between them, just beside that, and the next half-way.
  EXPECT_THAT(stored_as(ElementType::bfloat16, {1, 1 + 0x1p-8, 1 + 0x1.01p-8, 1 + 0x1.8p-7,
                                                -(1 + 0x1p-8), -(1 + 0x1.01p-8), 0x1p-133, -3.0}),
              ElementsAre(1, 1, 1 + 0x1p-7, 1 + 0x1p-6, -1, -(1 + 0x1p-7), 0x1p-133, -3));
}

TEST(TensorsTest, RoundsToTheNearestFloat16AndTiesToEven) {
  EXPECT_THAT(stored_as(ElementType::float16, {1, 1 + 0x1p-11, 1 + 0x1.01p-11, 1 + 0x1.8p-10, 65504,
                                               65520, -0x1p-24, 0x1.8p-24, 0x1p-26}),
              ElementsAre(1, 1, 1 + 0x1p-10, 1 + 0x1p-9, 65504, kInfinity, -0x1p-24, 0x1p-23, 0));
}

TEST(TensorsTest, KeepsWhatIsNoNumber) {
  for (const ElementType type :
       {ElementType::float32, ElementType::float16, ElementType::bfloat16}) {
    EXPECT_THAT(stored_as(type, {std::nan(""), kInfinity, -kInfinity}),
                ElementsAre(IsNan(), kInfinity, -kInfinity));
  }
}

TEST(TensorsTest, HoldsWholeNumbersAsInt32) {
  EXPECT_THAT(stored_as(ElementType::int32, {0, -1, 2147483647}), ElementsAre(0, -1, 2147483647));
}

TEST(TensorsTest, RefusesTypesThatNoProblemHas) {
  EXPECT_THAT([] { drawn("x", ElementType::float64, Role::input, {1}, [] { return 1.0; }); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("`x`")));
}

TEST(TensorsTest, ElementsOfARepeatedTensorAreThoseThatWereDrawn) {
  const Tensor drawn = filled("x", ElementType::float32, Role::input, {3}, {5, 6, 7});
  const Tensor vast = repeated(drawn, 4'000'000'001);
  EXPECT_EQ(vast.elements(), 4'000'000'001);
  EXPECT_EQ(vast.data, drawn.data);
  EXPECT_EQ(widened(vast, {0, 2, 3'000'000'000, 3'999'999'999}), (std::vector<double>{5, 7, 5, 5}));
}

TEST(TensorsTest, TheElementsThatAVastInputRepeatsFillWholePages) {
  for (const ElementType type : {ElementType::float32, ElementType::bfloat16}) {
    const auto bytes = static_cast<std::size_t>(vast_period(type)) * size_of(type);
    EXPECT_EQ(bytes % 4096, 0U);
    EXPECT_LE(bytes, std::size_t{1} << 20);
    EXPECT_NE(bytes % (std::size_t{1} << 13), 0U) << "a power of two would hide what wraps";
  }
}

TEST(TensorsTest, FindsATensorByName) {
  const Problem problem{{}, {output("y", ElementType::bfloat16, {2, 3})}};
  const Tensor& y = tensor(problem, "y");
  EXPECT_EQ(y.type, ElementType::bfloat16);
  EXPECT_EQ(y.role, Role::output);
  EXPECT_THAT(y.shape, ElementsAre(2, 3));
  EXPECT_THAT(y.data, IsEmpty());
  EXPECT_THROW(tensor(problem, "x"), std::out_of_range);
}

TEST(RoundingTest, MeasuresTheDistanceToTheNextFloat) {
  for (const float value : {1.0F, 1.5F, 0x1.fffffep0F, 3e38F, 1e-30F, 0x1p-126F, 0x1p-140F, 0.0F}) {
    const double next = std::nextafter(value, std::numeric_limits<float>::infinity());
    EXPECT_EQ(ulp(ElementType::float32, value), next - value) << value;
    EXPECT_EQ(ulp(ElementType::float32, -value), next - value) << value;
  }
}

TEST(RoundingTest, MeasuresTheDistanceToTheNextBfloat16) {
  EXPECT_EQ(ulp(ElementType::bfloat16, 1), 0x1p-7);
  EXPECT_EQ(ulp(ElementType::bfloat16, -3), 0x1p-6);
  EXPECT_EQ(ulp(ElementType::bfloat16, 0x1p-130), 0x1p-133);
  EXPECT_EQ(ulp(ElementType::bfloat16, 0), 0x1p-133);
  EXPECT_THROW(ulp(ElementType::int32, 1), std::invalid_argument);
}

TEST(RoundingTest, MeasuresTheDistanceToTheNextFloat16) {
  EXPECT_EQ(ulp(ElementType::float16, 1), 0x1p-10);
  EXPECT_EQ(ulp(ElementType::float16, -3), 0x1p-9);
  EXPECT_EQ(ulp(ElementType::float16, 0x1p-20), 0x1p-24);
  EXPECT_EQ(half_ulp(ElementType::float16, 0), 0x1p-25);
}

TEST(RoundingTest, RoundsAsTensorsAreStored) {
  for (const ElementType type :
       {ElementType::float32, ElementType::float16, ElementType::bfloat16}) {
    for (const double value : {1.0, 1 + 0x1p-8, 1 + 0x1.8p-10, 0.3, -7e-8, 65519.0, 65520.0, 0.0}) {
      const double in_float = static_cast<float>(value);
      EXPECT_EQ(rounded(type, in_float), stored_as(type, {value})[0]) << value;
    }
  }
  EXPECT_EQ(rounded(ElementType::bfloat16, 0x1.ffp127), kInfinity);
}

TEST(RoundingTest, AllowsAStoredResultItsErrorAndOneRounding) {
  const Expected y = stored("y", ElementType::float16, {{1.0, 2048.0}, {0.25, 0.0}});
  EXPECT_EQ(y.tensor, "y");
  EXPECT_THAT(y.value, ElementsAre(1.0, 2048.0));
  EXPECT_THAT(y.tolerance, ElementsAre(0.25 + 0x1p-11, 1.0));
}

TEST(MistakesTest, KeepsThoseThatCanBeToldFromTheRightResult) {
  Mistakes mistakes({{"y", {1.0, 2.0}, {0.1, 0.1}}});
  mistakes.add("RL0401", "looks right", "", {{"y", {1.0, 2.05}, {0.1, 0.1}}});
  mistakes.add("RL0401", "is far off", "", {{"y", {1.0, 3.0}, {0.1, 0.1}}});
  mistakes.add("RL0401", "is far off, where it is a number", "",
               {{"y", {std::nan(""), 3.0}, {0.1, 0.1}}});
  const std::vector<KnownMistake> kept = mistakes.take();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].cause, "is far off");
  EXPECT_EQ(kept[1].cause, "is far off, where it is a number");
}

TEST(MistakesTest, KeepWhatDiffersByNoNumberOnlyIfItIsKnownByThat) {
  Mistakes mistakes({{"y", {1.0, 2.0}, {0.1, 0.1}}});
  const std::vector<Expected> not_a_number = {{"y", {std::nan(""), 2.0}, {0.1, 0.1}}};
  mistakes.add("RL0401", "ends there, too", "", not_a_number);
  mistakes.add_not_finite("RL0481", "overflows", "", not_a_number);
  const std::vector<KnownMistake> kept = mistakes.take();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].cause, "overflows");
}

TEST(MistakesTest, TakeEqualInfinitiesForEqual) {
  Mistakes mistakes({{"y", {-kInfinity}, {0.1}}});
  mistakes.add_not_finite("RL0401", "is the same", "", {{"y", {-kInfinity}, {0.1}}});
  mistakes.add_not_finite("RL0401", "is the other infinity", "", {{"y", {kInfinity}, {0.1}}});
  const std::vector<KnownMistake> kept = mistakes.take();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].cause, "is the other infinity");
}

TEST(RoundingTest, LeavesNoRoomAroundWhatIsNotFinite) {
  for (const double value : {kInfinity, -kInfinity, std::nan("")}) {
    EXPECT_EQ(ulp(ElementType::float32, value), 0x1p-149);
  }
}

TEST(RoundingTest, CoversWhatSumsInFloat32AreOffBy) {
  Random random(1);
  for (const int count : {1, 7, 1000, 100'000}) {
    float sum = 0;
    double exact = 0;
    double squares_a = 0;
    double squares_b = 0;
    for (int i = 0; i < count; ++i) {
      const float a = static_cast<float>(random() % 65'536) * 0x1p-16F - 0.3F;
      const float b = static_cast<float>(random() % 65'536) * 0x1p-16F - 0.3F;
      sum += a * b;
      exact += static_cast<double>(a) * b;
      squares_a += static_cast<double>(a) * a;
      squares_b += static_cast<double>(b) * b;
    }
    const double bound = sum_tolerance(count, kFloat32Unit, std::sqrt(squares_a * squares_b));
    EXPECT_LE(std::abs(sum - exact), bound) << count;
  }
}

TEST(RoundingTest, LetsSumsBeOffByTheRootOfTheirLength) {
  EXPECT_EQ(sum_tolerance(1, kFloat32Unit, 6), 48 * 0x1p-24);
  EXPECT_EQ(sum_tolerance(100, kFloat32Unit, 6), 480 * 0x1p-24);
}

TEST(EvidenceTest, TakesAResultOfTheRightTypeOnly) {
  CallEvidence evidence;
  evidence.results = {{"milliseconds", 1.5}, {"json", std::string("{}")}};
  EXPECT_EQ(result(evidence, "milliseconds", 0.0), 1.5);
  EXPECT_EQ(result(evidence, "json", std::string()), "{}");
  EXPECT_EQ(result(evidence, "json", 2.5), 2.5);
  EXPECT_EQ(result(evidence, "bytes", std::int64_t{7}), 7);
}

TEST(EvidenceTest, ComparesRelativeToWhatIsExpected) {
  EXPECT_TRUE(is_close(-101, -100, 0.01));
  EXPECT_FALSE(is_close(102, 100, 0.01));
  EXPECT_FALSE(is_close(std::nan(""), 100, 0.01));
  EXPECT_FALSE(is_close(1e-9, 0, 0.01));
}

TEST(EvidenceTest, OfPeaksTheReplyGivesNoMoreThanDigits) {
  CallEvidence evidence;
  evidence.results = {{"flops_per_second", 19.49e12}, {"bytes_per_second", 1e30}};
  EXPECT_EQ(told_peaks(evidence).bytes_per_second, 1e30) << "nobody knows better";
  evidence.peaks = {.flops_per_second = 19.5e12, .bytes_per_second = 1.555e12};
  EXPECT_EQ(told_peaks(evidence).flops_per_second, 19.49e12);
  EXPECT_EQ(told_peaks(evidence).bytes_per_second, 1.555e12);
  evidence.results = {{"flops_per_second", std::nan("")}};
  EXPECT_EQ(told_peaks(evidence).flops_per_second, 19.5e12);
}

TEST(EvidenceTest, ProductsOnTensorCoresAreNotMadeOnCudaCoresBesideThem) {
  CallEvidence evidence;
  evidence.activity.kernels.resize(2);
  evidence.activity.kernels[0].counters.flops = {{"fp16_tensor", 600}, {"fp32", 100}};
  evidence.activity.kernels[1].counters.flops = {{"fp16_tensor", 400}, {"bf16_tensor", 9}};
  const auto multiplies = [&](double flops) {
    return multiplies_on(flops_done(evidence, "fp16_tensor"), flops);
  };
  EXPECT_TRUE(multiplies(1000));
  EXPECT_FALSE(multiplies(1001));
  evidence.activity.kernels[1].counters.flops["fp16"] = 400;
  EXPECT_FALSE(multiplies(1000)) << "500 of 1000 on CUDA cores";
}

TEST(EvidenceTest, WorkThatTensorCoresDidNotDoIsAComplaint) {
  const Work work{{{"fp32", 10}, {"fp16_tensor", 1000}}, 0};
  CallEvidence evidence{.results = {}, .activity = {}, .keeps_records = true};
  evidence.activity.kernels.resize(1);
  evidence.activity.kernels[0].counters.flops = {{"fp32", 1000}};
  const auto complaint = without_tensor_cores(work, evidence, "use fragments");
  ASSERT_TRUE(complaint);
  EXPECT_EQ(complaint->message.text,
            "not all products are computed on tensor cores: they did 0 FLOPs of at least 1000, and "
            "CUDA cores 1000");
  EXPECT_EQ(complaint->advice, "use fragments");
  evidence.activity.kernels[0].counters.flops = {{"fp16_tensor", 1024}, {"fp32", 100}};
  EXPECT_FALSE(without_tensor_cores(work, evidence, "use fragments"));
  evidence.activity.kernels.clear();
  EXPECT_TRUE(without_tensor_cores(work, evidence, "use fragments"));
  evidence.keeps_records = false;
  EXPECT_FALSE(without_tensor_cores(work, evidence, "use fragments")) << "nobody saw the kernels";
}

TEST(RecordedCallsTest, AMarkerThatStandsTwiceMarksNothing) {
  using simgpu::MemoryOperation;
  simgpu::Activity activity;
  activity.memory = {{.sequence = 1, .operation = MemoryOperation::copy_to_host, .bytes = 101},
                     {.sequence = 2, .operation = MemoryOperation::set, .bytes = 101},
                     {.sequence = 4, .operation = MemoryOperation::set, .bytes = 102}};
  activity.kernels.resize(1);
  activity.kernels[0].sequence = 3;
  ASSERT_NE(only_fill(activity, 101), nullptr);
  EXPECT_EQ(only_fill(activity, 101)->sequence, 2U);
  EXPECT_EQ(only_fill(activity, 103), nullptr);
  EXPECT_EQ(call_behind_marker(activity, 101).kernels, 1);
  activity.memory.push_back(activity.memory[1]);
  EXPECT_EQ(only_fill(activity, 101), nullptr);
  EXPECT_EQ(call_behind_marker(activity, 101).kernels, 0);
}

TEST(EvidenceTest, WritesNumbersWithFiveDigits) {
  EXPECT_EQ(message("took ", 0.123456789, " ms for ", std::int64_t{1234567}, " calls"),
            "took 0.12346 ms for 1234567 calls");
}

TEST(Selection, NamesTheElementsOfRows) {
  EXPECT_EQ(elements_of_rows({0, 1'000'000'000}, 3),
            (std::vector<std::size_t>{0, 1, 2, 3'000'000'000, 3'000'000'001, 3'000'000'002}));
}

TEST(Tensors, OfAVastProblemSmallInputsFillWholePages) {
  const Tensor small = drawn("x", ElementType::float32, Role::input, {1025}, [] { return 2.0; });
  const Tensor padded = in_whole_pages(small);
  EXPECT_EQ(padded.data.size(), 8192U);
  EXPECT_EQ(padded.shape, small.shape);
  EXPECT_EQ(widened(padded), widened(small));
}

}  // namespace
}  // namespace rooflab

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/parameters.h"
#include "labs/oracle_support/tensors.h"

namespace rooflab {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::unique_ptr<Oracle> oracle(const std::string& name) { return oracle_registry().at(name)(); }

/// As the adapter sends them.
std::string text_of(const std::vector<float>& values) {
  std::string text;
  for (const float value : values) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", std::bit_cast<std::uint32_t>(value));
    text += digits;
  }
  return text;
}

class VectorAddTest : public ::testing::Test {
 protected:
  VectorAddTest() : problem_(oracle("vector_add")->make({{"n", std::int64_t{300}}}, 7)) {
    std::minstd_rand random(static_cast<std::uint32_t>(integer(problem_.parameters, "seed")));
    std::vector<float> a(300), b(300);
    for (std::vector<float>* values : {&a, &b}) {
      for (float& value : *values) value = (static_cast<float>(random() % 2001) - 1000) / 8;
    }
    for (std::size_t i = 0; i < a.size(); ++i) c_.push_back(a[i] + b[i]);
    evidence_.keeps_records = true;
    simgpu::KernelRecord kernel;
    kernel.counters.flops["fp32"] = 300;
    kernel.counters.global_load_bytes = 2400;
    kernel.counters.global_store_bytes = 1200;
    evidence_.activity.kernels = {kernel};
    evidence_.activity.memory = {
        {.operation = simgpu::MemoryOperation::copy_to_device, .bytes = 1200},
        {.operation = simgpu::MemoryOperation::copy_to_device, .bytes = 1200},
        {.operation = simgpu::MemoryOperation::copy_to_host, .bytes = 1200}};
  }

  std::vector<Complaint> judged() {
    evidence_.results["c"] = text_of(c_);
    return oracle("vector_add")->judge(problem_, evidence_);
  }
  void expect(Code code, const std::string& words) {
    const auto complaints = judged();
    ASSERT_THAT(complaints, SizeIs(1));
    EXPECT_EQ(complaints[0].code, code);
    EXPECT_THAT(complaints[0].message.text, HasSubstr(words));
    EXPECT_THAT(complaints[0].message.in_public, ::testing::Not(HasSubstr("300")));
  }

  Problem problem_;
  std::vector<float> c_;
  CallEvidence evidence_;
};

TEST_F(VectorAddTest, AcceptsTheSumsOfTheAdaptersNumbersAlone) {
  EXPECT_THAT(judged(), IsEmpty());
  for (std::size_t i = 0; i < c_.size(); ++i) {
    const float right = c_[i];
    c_[i] += 0.125F;
    ASSERT_THAT(judged(), SizeIs(1)) << i;
    c_[i] = std::nanf("");
    ASSERT_THAT(judged(), SizeIs(1)) << i;
    c_[i] = right;
  }
}

TEST_F(VectorAddTest, NamesWhatIsWrong) {
  const std::vector<float> right = c_;
  c_[17] += 1;
  expect("RL0401", "c is not a + b; 1 of 300 elements of c are wrong, c[17] is");
  c_.assign(300, std::nanf(""));
  expect("RL0403", "no sum has reached c");
  c_ = right;
  std::fill(c_.begin() + 256, c_.end(), 0.0F);
  expect("RL0436", "44 of 300");
  c_ = right;
  std::fill(c_.begin() + 75, c_.end(), std::nanf(""));
  expect("RL0403", "the first n / 4 elements of c are there, which are n bytes");
  c_.resize(10);
  expect("RL0401", "290 of 300");
  c_ = right;
  evidence_.results["inputs changed"] = std::int64_t{1};
  expect("RL0405", "no longer what it was");
}

TEST_F(VectorAddTest, SumsThatNoKernelAddedAreRefused) {
  evidence_.activity.kernels[0].counters.flops["fp32"] = 299;
  expect("RL0506", "no kernel has added them; kernels did 299 of 300");
  evidence_.activity.kernels[0].counters.flops["fp32"] = 300;
  evidence_.activity.kernels[0].counters.global_store_bytes = 4;
  expect("RL0506", "and stored 1 numbers");
  evidence_.activity.kernels.clear();
  expect("RL0506", "kernels did 0");
  evidence_.keeps_records = false;
  EXPECT_THAT(judged(), IsEmpty()) << "a real GPU has no records";
}

TEST_F(VectorAddTest, SumsOfOtherNumbersThanKernelsMadeAreRefused) {
  auto& memory = evidence_.activity.memory;
  const auto all = memory;
  memory = {all[0], all[1]};
  expect("RL0506", "0 copied back");
  memory = {all[0], all[2]};
  expect("RL0506", "300 numbers were copied to the device");
  memory.clear();
  evidence_.activity.api_calls["cudaMallocManaged"] = 3;
  EXPECT_THAT(judged(), IsEmpty()) << "memory that both sides reach needs no copies";
  evidence_.activity.kernels[0].counters.global_load_bytes = 2396;
  expect("RL0506", "599 were loaded by kernels");
}

TEST(VectorAddText, WhatIsNoNumberIsWrong) {
  const Problem problem = oracle("vector_add")->make({{"n", std::int64_t{2}}}, 7);
  for (const char* text : {"", "zzzzzzzzzzzzzzzz", "0000", "-0000001+0000001"}) {
    EXPECT_THAT(
        oracle("vector_add")
            ->judge(problem, CallEvidence{.results = {{"c", std::string(text)}}, .activity = {}}),
        SizeIs(1))
        << text;
  }
}

TEST(MatrixAddRow, AddsToEachColumnItsOwnNumber) {
  const Problem problem =
      oracle("matrix_add_row")->make({{"rows", std::int64_t{3}}, {"columns", std::int64_t{5}}}, 7);
  const Expected y = oracle("matrix_add_row")->expect(problem).at(0);
  const auto x = floats(tensor(problem, "x")), row = floats(tensor(problem, "row"));
  ASSERT_THAT(y.value, SizeIs(15));
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 5; ++c) EXPECT_EQ(y.value[r * 5 + c], x[r * 5 + c] + row[c]);
  }
  EXPECT_THAT(oracle("matrix_add_row")->mistakes(problem), SizeIs(1));
}

TEST(WindowSums, AreThoseOfALoopInFloat32) {
  for (const std::int64_t n : {1, 4, 7, 300}) {
    const Problem problem = oracle("window_sums")->make({{"n", n}}, 7);
    const Expected y = oracle("window_sums")->expect(problem).at(0);
    const auto x = floats(tensor(problem, "x"));
    for (std::int64_t i = 0; i < n; ++i) {
      float sum = 0;
      for (std::int64_t j = std::max<std::int64_t>(i - 3, 0); j <= std::min(i + 3, n - 1); ++j) {
        sum += x[j];
      }
      EXPECT_EQ(y.value[i], sum) << i << " of " << n;
    }
  }
}

TEST(WindowSums, KnowWhatIsMissing) {
  const Problem problem = oracle("window_sums")->make({{"n", std::int64_t{2048}}}, 7);
  EXPECT_THAT(oracle("window_sums")->mistakes(problem), SizeIs(8));
}

TEST(WindowSums, CountLoadsWhereTheCaseAsksForThem) {
  const Values parameters{{"n", std::int64_t{1000}}};
  Values asks = parameters;
  asks["judges_structure"] = std::int64_t{1};
  simgpu::KernelRecord kernel;
  kernel.counters.global_load_bytes = 4 * 7000;
  CallEvidence evidence{.results = {}, .activity = {}, .keeps_records = true};
  evidence.activity.kernels = {kernel};
  const auto judged = [&](const Values& values) {
    return oracle("window_sums")->judge(oracle("window_sums")->make(values, 7), evidence);
  };
  EXPECT_THAT(judged(parameters), IsEmpty());
  EXPECT_THAT(judged(asks), SizeIs(1));
  simgpu::KernelCounters& counters = evidence.activity.kernels[0].counters;
  counters.global_load_bytes = 4 * 1024;
  EXPECT_THAT(judged(asks), IsEmpty());
  counters.global_atomic_bytes = 4 * 6000;
  EXPECT_THAT(judged(asks), SizeIs(1)) << "atomics read, too";
  counters.global_atomic_bytes = 0;
  counters.constant_load_wavefronts = 6000;
  EXPECT_THAT(judged(asks), SizeIs(1)) << "and so does the constant cache";
}

TEST(Sum, IsExactInFloat32InAnyOrder) {
  const Problem problem = oracle("sum")->make({{"n", std::int64_t{100000}}}, 7);
  const Expected result = oracle("sum")->expect(problem).at(0);
  const auto x = floats(tensor(problem, "x"));
  float forwards = 0, backwards = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    forwards += x[i];
    backwards += x[x.size() - 1 - i];
    ASSERT_NE(x[i], 0) << "an element that is left out would not be seen";
    ASSERT_GE(std::abs(x[i]), 2 * result.tolerance[0]);
  }
  EXPECT_EQ(forwards, result.value[0]);
  EXPECT_EQ(backwards, result.value[0]);
}

TEST(Sum, OfManyElementsIsSharedByBlocks) {
  simgpu::KernelRecord kernel;
  kernel.grid = {1, 1, 1};
  CallEvidence evidence{.results = {}, .activity = {}, .keeps_records = true};
  evidence.activity.kernels = {kernel};
  const auto judged = [&](std::int64_t n) {
    return oracle("sum")->judge(oracle("sum")->make({{"n", n}}, 7), evidence);
  };
  EXPECT_THAT(judged(256), IsEmpty()) << "work for one block";
  EXPECT_THAT(judged(4096), SizeIs(1));
  evidence.activity.kernels[0].grid = {16, 1, 1};
  EXPECT_THAT(judged(4096), IsEmpty());
  evidence.activity.kernels.push_back(kernel);
  EXPECT_THAT(judged(4096), IsEmpty()) << "one block may add up what the others found";
}

TEST(Sum, KnowsWhichElementsAreMissing) {
  const Problem problem = oracle("sum")->make({{"n", std::int64_t{3000}}}, 7);
  EXPECT_THAT(oracle("sum")->mistakes(problem), SizeIs(13));
}

TEST(Mend, KnowsStepsAndReversedPieces) {
  const Problem steps = oracle("differences")->make({{"n", std::int64_t{9}}}, 7);
  const auto x = floats(tensor(steps, "x"));
  const Expected y = oracle("differences")->expect(steps).at(0);
  ASSERT_THAT(y.value, SizeIs(8));
  for (int i = 0; i < 8; ++i) EXPECT_EQ(y.value[i], x[i + 1] - x[i]);

  const Problem pieces = oracle("reverse_pieces")->make({{"pieces", std::int64_t{2}}}, 7);
  const auto from = floats(tensor(pieces, "x"));
  const Expected to = oracle("reverse_pieces")->expect(pieces).at(0);
  ASSERT_THAT(to.value, SizeIs(512));
  for (int i = 0; i < 512; ++i) EXPECT_EQ(to.value[i], from[i / 256 * 256 + 255 - i % 256]);
  EXPECT_THAT(to.tolerance, Each(Gt(0)));
}

}  // namespace
}  // namespace rooflab

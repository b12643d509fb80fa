#include "simgpu/device/activity_wire.h"

#include <gmock/gmock.h>

#include "simgpu/device/activity_members.h"
#include "simgpu/device/wire.h"

namespace simgpu::activity_wire_test {
namespace {

Activity received(const std::vector<std::byte>& bytes) { return decode_activity(bytes); }
std::vector<std::byte> sent(const Activity& activity) { return encode(activity); }

/// Sets every value below a record to another one, which depends on where it is.
class Filler {
 public:
  void operator()(auto&... values) { (fill(values), ...); }

 private:
  void fill(auto& record) { members(*this, record); }
  template <typename T>
  requires std::is_arithmetic_v<T>
  void fill(T& value) { value = static_cast<T>(++filled_); }
  void fill(bool& value) { value = true; }
  void fill(Code& code) { code = "RL0309"; }
  void fill(FindingDetail& detail) { detail = FindingDetail::past_end; }
  void fill(StreamWork& work) { work = StreamWork::copy; }
  void fill(MemoryOperation& operation) { operation = MemoryOperation::copy_on_device; }
  void fill(Limiter& limiter) { limiter = Limiter::l2; }
  void fill(OccupancyLimiter& limiter) { limiter = OccupancyLimiter::registers; }
  void fill(std::string& text) { text = "text " + std::to_string(++filled_); }
  template <typename T>
  void fill(std::optional<T>& value) {
    fill(value.emplace());
  }
  template <typename T>
  void fill(std::vector<T>& values) {
    for (T& value : values = std::vector<T>(2)) fill(value);
  }
  void fill(LimiterTimes& times) {
    for (const Limiter limiter : {Limiter::dram, Limiter::latency}) fill(times[limiter]);
  }
  template <typename T>
  void fill(std::map<std::string, T>& values) {
    for (const char* key : {"fp32", "move"}) fill(values[key]);
  }

  int filled_ = 1000;
};

template <typename Record>
Record filled() {
  Record record;
  Filler filler;
  members(filler, record);
  return record;
}

/// All counters of a kernel, in order.
std::vector<std::uint64_t> values_of(const KernelCounters& counters) {
  std::vector<std::uint64_t> values;
  const auto add = [&values](const auto& value) {
    if constexpr (std::is_same_v<decltype(value), const std::uint64_t&>) {
      values.push_back(value);
    } else {
      for (const auto& [key, count] : value) values.push_back(count);
    }
  };
  const auto each = [&add](const auto&... members) { (add(members), ...); };
  members(each, counters);
  return values;
}

TEST(ActivityWireTest, EveryValueArrives) {
  const auto activity = filled<Activity>();
  ASSERT_EQ(activity.kernels.size(), 2U);
  ASSERT_TRUE(activity.findings.at(0).other.has_value());
  const Activity arrived = received(sent(activity));
  EXPECT_EQ(sent(arrived), sent(activity));
  EXPECT_EQ(arrived.findings, activity.findings);
  EXPECT_EQ(arrived.kernels.at(1).counters, activity.kernels.at(1).counters);
  EXPECT_EQ(arrived.kernels.at(1).time.terms, activity.kernels.at(1).time.terms);
  EXPECT_EQ(arrived.api_calls, activity.api_calls);
  EXPECT_EQ(arrived.error, activity.error);
}

TEST(ActivityWireTest, RefusesWhatIsCutOffOrHasMoreBehindIt) {
  std::vector<std::byte> bytes = sent(filled<Activity>());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::vector<std::byte> part(bytes.begin(), bytes.begin() + static_cast<long>(length));
    EXPECT_THROW(received(part), wire::MessageError) << length;
  }
  bytes.push_back(std::byte{0});
  EXPECT_THROW(received(bytes), wire::MessageError);
}

TEST(ActivityWireTest, LinesArriveAsTheyWereTold) {
  const Activity activity = filled<Activity>();
  ASSERT_FALSE(activity.line_tables.empty());
  const Activity arrived = received(sent(activity));
  EXPECT_EQ(arrived.line_tables, activity.line_tables);
  EXPECT_EQ(arrived.kernels.at(0).line_table, activity.kernels.at(0).line_table);
}

TEST(ActivityWireTest, ASampledLaunchArrivesAsOne) {
  Activity activity;
  activity.kernels.emplace_back();
  activity.kernels[0].sampled = true;
  activity.kernels[0].sampled_blocks = 77;
  const Activity arrived = received(sent(activity));
  EXPECT_TRUE(arrived.kernels.at(0).sampled);
  EXPECT_EQ(arrived.kernels.at(0).sampled_blocks, 77U);
}

TEST(ActivityWireTest, WhatIssuedARecordArrivesWithIt) {
  Activity activity;
  KernelRecord& kernel = activity.kernels.emplace_back();
  kernel.correlation = 11, kernel.stream = 12, kernel.graph_launch = 13;
  MemoryRecord& copy = activity.memory.emplace_back();
  copy.correlation = 21, copy.stream = 22, copy.graph_launch = 23;
  activity.calls.push_back({.sequence = 31,
                            .name = "cudaMemcpyAsync",
                            .start_us = 32.5,
                            .time_us = 33.5,
                            .correlation = 34,
                            .error = 35});
  const Activity arrived = received(sent(activity));
  EXPECT_EQ(arrived.kernels.at(0).correlation, 11u);
  EXPECT_EQ(arrived.kernels.at(0).stream, 12u);
  EXPECT_EQ(arrived.kernels.at(0).graph_launch, 13u);
  EXPECT_EQ(arrived.memory.at(0).correlation, 21u);
  EXPECT_EQ(arrived.memory.at(0).stream, 22u);
  EXPECT_EQ(arrived.memory.at(0).graph_launch, 23u);
  ASSERT_EQ(arrived.calls.size(), 1u);
  EXPECT_EQ(arrived.calls[0].sequence, 31u);
  EXPECT_EQ(arrived.calls[0].name, "cudaMemcpyAsync");
  EXPECT_EQ(arrived.calls[0].start_us, 32.5);
  EXPECT_EQ(arrived.calls[0].time_us, 33.5);
  EXPECT_EQ(arrived.calls[0].correlation, 34u);
  EXPECT_EQ(arrived.calls[0].error, 35);
}

TEST(ActivityWireTest, EveryCounterIsScaled) {
  const auto once = filled<KernelCounters>();
  KernelCounters thrice;
  add_scaled(thrice, once, 2);
  add_scaled(thrice, once, 1);
  std::vector<std::uint64_t> expected = values_of(once);
  ASSERT_THAT(expected, testing::Each(testing::Gt(1000U)));
  for (std::uint64_t& value : expected) value *= 3;
  EXPECT_EQ(values_of(thrice), expected);
}

}  // namespace
}  // namespace simgpu::activity_wire_test

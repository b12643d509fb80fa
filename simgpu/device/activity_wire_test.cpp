#include "simgpu/device/activity_wire.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace simgpu {
namespace {

using nlohmann::json;

json sent(const Activity& activity) {
  const std::vector<std::byte> bytes = encode(activity);
  const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return json::from_cbor(begin, begin + bytes.size());
}

Activity received(const json& document) {
  const std::vector<std::uint8_t> bytes = json::to_cbor(document);
  return decode_activity(std::as_bytes(std::span(bytes)));
}

/// An activity with one kernel each of whose counters is different and none is zero.
Activity with_every_counter() {
  Activity activity;
  activity.kernels.emplace_back();
  activity.kernels[0].counters.instructions_by_class = {{"fp32", 0}, {"move", 0}};
  activity.kernels[0].counters.flops = {{"fp32", 0}};
  json document = sent(activity);
  json flat = document["kernels"][0]["counters"].flatten();
  std::uint64_t value = 1000;
  for (auto& [name, counter] : flat.items()) counter = ++value;
  document["kernels"][0]["counters"] = flat.unflatten();
  return received(document);
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
  const Activity one = with_every_counter();
  Activity three;
  three.kernels.emplace_back();
  add_scaled(three.kernels[0].counters, one.kernels[0].counters, 2);
  add_scaled(three.kernels[0].counters, one.kernels[0].counters, 1);
  const json once = sent(one)["kernels"][0]["counters"].flatten();
  const json thrice = sent(three)["kernels"][0]["counters"].flatten();
  ASSERT_EQ(once.size(), thrice.size());
  for (const auto& [name, value] : once.items()) {
    EXPECT_EQ(thrice.at(name).get<std::uint64_t>(), 3 * value.get<std::uint64_t>()) << name;
  }
}

}  // namespace
}  // namespace simgpu

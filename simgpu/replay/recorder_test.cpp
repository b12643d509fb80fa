#include "simgpu/replay/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "simgpu/exec/engine_testing.h"
#include "simgpu/exec/thread_block.h"

namespace simgpu::replay {
namespace {

/// The number of the line of the test kernels that holds a text.
std::uint32_t line_with(const std::string& text) {
  std::ifstream file(REPLAY_KERNELS);
  std::uint32_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.find(text) != std::string::npos) return number;
  }
  ADD_FAILURE() << "no line has " << text;
  return 0;
}

class Recorded : public ::testing::Test {
 protected:
  template <typename... Arguments>
  LaunchResult run(StepObserver* observer, const std::string& kernel, Dim3 grid, Dim3 block,
                   Arguments... arguments) {
    return device_.run(kernel, {.grid = grid, .block = block, .observer = observer}, arguments...);
  }

  std::vector<std::uint32_t> lines(const Recording& recording) {
    std::vector<std::uint32_t> found;
    for (const Step& step : recording.steps) {
      found.push_back(step.place == kNone ? 0 : recording.places[step.place].line);
    }
    return found;
  }

  const Step* step_at(const Recording& recording, std::uint32_t line) {
    for (const Step& step : recording.steps) {
      if (step.place != kNone && recording.places[step.place].line == line) return &step;
    }
    return nullptr;
  }

  /// The finding of a kernel that is wrong, as a first run has it.
  Finding finding_of(const std::string& kernel, Dim3 block, std::uint64_t in, std::uint64_t out,
                     Code code) {
    const LaunchResult result = run(nullptr, kernel, {1, 1, 1}, block, in, out);
    const auto found = std::ranges::find(result.findings, code, &Finding::code);
    EXPECT_NE(found, result.findings.end());
    return found == result.findings.end() ? Finding{} : *found;
  }

  testing::Device device_ = testing::Device::from_file(REPLAY_PTX);
};

/// What each instruction of a warp leaves in all registers, by another way: all of them are copied
/// behind it.
class Snapshots final : public StepObserver {
 public:
  struct Snapshot {
    std::uint32_t index = 0;  ///< of the instruction
    std::uint32_t lanes = 0;
    std::vector<std::byte> registers{};
  };

  void begin_launch(const LaunchContext& launch) override { kernel_ = &launch.kernel; }
  void before(const Lowered&, const Warp&, std::uint32_t) override {}
  void after(const Lowered& in, const Warp& warp, std::uint32_t lanes) override {
    if (warp.block->position.block() != 0 || warp.index != 0) return;
    if (kernel_->hidden[in.index] != 0) return;
    Snapshot snapshot{.index = in.index, .lanes = lanes};
    snapshot.registers.resize(kernel_->register_bytes);
    std::memcpy(snapshot.registers.data(), warp.regs, snapshot.registers.size());
    all.push_back(std::move(snapshot));
  }

  /// What a lane has last written to a register in [first, end).
  std::uint64_t written(std::size_t first, std::size_t end, std::uint32_t reg,
                        unsigned lane) const {
    for (std::size_t i = end; i-- > first;) {
      const auto& writes = kernel_->info.instructions[all[i].index].writes;
      const bool is_here = std::ranges::find(writes, reg) != writes.end();
      if (!is_here || (all[i].lanes >> lane & 1U) == 0) continue;
      const SlotRange& slot = kernel_->registers[reg].slot;
      std::uint64_t value = 0;
      if (slot.bytes == 4) {
        std::memcpy(&value, all[i].registers.data() + slot.offset, 4);
        return value >> lane & 1U;
      }
      const std::size_t bytes = slot.bytes / kLanes;
      std::memcpy(&value, all[i].registers.data() + slot.offset + lane * bytes, bytes);
      return value;
    }
    ADD_FAILURE() << "nothing writes register " << reg;
    return 0;
  }

  std::vector<Snapshot> all;  ///< one behind each instruction

 private:
  const LoweredKernel* kernel_ = nullptr;
};

TEST_F(Recorded, StepsAreTheLinesOfAWarpInTheirOrder) {
  const std::uint64_t in = device_.put(std::vector<float>(64, 2.0F));
  const std::uint64_t out = device_.put(std::vector<float>(64));
  Recorder recorder{Wanted{}};
  run(&recorder, "straight", {1, 1, 1}, {64, 1, 1}, in, out, 3.0F);
  ASSERT_TRUE(recorder.result().recording);
  const Recording& recording = *recorder.result().recording;
  const std::vector<std::uint32_t> found = lines(recording);
  const auto index = std::ranges::find(found, line_with("// index"));
  const auto scaled = std::find(index, found.end(), line_with("// scaled"));
  const auto store = std::find(scaled, found.end(), line_with("// store"));
  EXPECT_NE(store, found.end());
  for (const Step& step : recording.steps) EXPECT_EQ(step.active, 0xFFFFFFFFU);
  EXPECT_EQ(recording.kernel, "straight");
  EXPECT_EQ(recording.block, (Dim3{64, 1, 1}));
  EXPECT_EQ(recording.parameters.size(), 3U);
}

TEST_F(Recorded, AccessesHaveTheirLanesAndTheirPlaceInTheAllocation) {
  const std::uint64_t in = device_.put(std::vector<float>(64, 2.0F));
  const std::uint64_t out = device_.put(std::vector<float>(64));
  Recorder recorder{Wanted{}};
  run(&recorder, "straight", {1, 1, 1}, {64, 1, 1}, in, out, 3.0F);
  const Recording& recording = *recorder.result().recording;
  const Step* const load = step_at(recording, line_with("// scaled"));
  ASSERT_NE(load, nullptr);
  ASSERT_FALSE(load->accesses.empty());
  const Access& access = load->accesses.front();
  EXPECT_EQ(access.space, Space::global);
  EXPECT_EQ(access.action, Action::load);
  EXPECT_EQ(access.bytes, 4);
  ASSERT_EQ(access.addresses.size(), 32U);
  EXPECT_EQ(access.addresses[5], 20U);
  ASSERT_NE(access.allocation, kNone);
  EXPECT_EQ(recording.allocations[access.allocation].bytes, 256U);
}

TEST_F(Recorded, StepsOfABranchHaveTheLanesThatTakeIt) {
  const std::uint64_t out = device_.put(std::vector<int>(32, 2));
  Recorder recorder{Wanted{}};
  run(&recorder, "branches", {1, 1, 1}, {32, 1, 1}, out);
  const Recording& recording = *recorder.result().recording;
  const std::uint32_t inside = line_with("// low lanes");
  bool any = false;
  for (const Step& step : recording.steps) {
    const bool is_inside = step.place != kNone && recording.places[step.place].line == inside;
    for (const Access& access : step.accesses) {
      if (!is_inside) continue;
      EXPECT_EQ(access.lanes & ~0x1FU, 0U);
      any = true;
    }
  }
  EXPECT_TRUE(any);
  const Step* const store = step_at(recording, line_with("// all lanes"));
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(store->active, 0xFFFFFFFFU);
}

TEST_F(Recorded, RegistersHaveTheValuesOfAnIndependentLook) {
  const std::uint64_t data = device_.put(std::vector<int>(512, 3));
  const std::uint64_t out = device_.put(std::vector<int>(512));
  Recorder recorder{Wanted{}};
  run(&recorder, "tiles", {1, 1, 1}, {64, 1, 1}, data, out, 4);
  Snapshots snapshots;
  run(&snapshots, "tiles", {1, 1, 1}, {64, 1, 1}, data, out, 4);
  const Recording& recording = *recorder.result().recording;
  std::size_t first = 0, compared = 0;
  for (const Step& step : recording.steps) {
    const std::size_t end = first + step.instructions;
    ASSERT_LE(end, snapshots.all.size());
    for (const RegisterValues& one : step.registers) {
      std::size_t next = 0;
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        if ((one.lanes >> lane & 1U) == 0) continue;
        EXPECT_EQ(one.values[next++], snapshots.written(first, end, one.reg, lane));
        ++compared;
      }
    }
    first = end;
  }
  EXPECT_EQ(first, snapshots.all.size());
  EXPECT_GT(compared, 500U);
}

TEST_F(Recorded, SharedMemoryIsWhatAllWarpsHaveStored) {
  std::vector<int> values(64);
  for (int i = 0; i < 64; ++i) values[static_cast<std::size_t>(i)] = 100 + i;
  const std::uint64_t in = device_.put(values);
  const std::uint64_t out = device_.put(std::vector<int>(64));
  Recorder recorder{Wanted{}};
  run(&recorder, "tiles", {1, 1, 1}, {64, 1, 1}, in, out, 1);
  const Recording& recording = *recorder.result().recording;
  std::map<std::uint32_t, std::pair<int, std::uint32_t>> bytes;  // value and warp
  const auto take = [&](const std::vector<SharedBytes>& all) {
    for (const SharedBytes& one : all) {
      for (std::uint32_t i = 0; i < one.bytes.size(); ++i) {
        bytes[one.first + i] = {one.bytes[i], one.warp};
      }
    }
  };
  const std::uint32_t sum = line_with("// sum");
  for (const Step& step : recording.steps) {
    take(step.others);
    take(step.shared);
    if (step.place != kNone && recording.places[step.place].line == sum) break;
  }
  ASSERT_EQ(bytes.size(), 256U);
  EXPECT_EQ(bytes[0].first, 100);
  EXPECT_EQ(bytes[0].second, 0U);
  EXPECT_EQ(bytes[4 * 63].first, 163);
  EXPECT_EQ(bytes[4 * 63].second, 1U);
  ASSERT_EQ(recording.arrays.size(), 1U);
  EXPECT_EQ(recording.arrays[0].name, "tile");
}

TEST_F(Recorded, BarriersAreCounted) {
  const std::uint64_t in = device_.put(std::vector<int>(256));
  const std::uint64_t out = device_.put(std::vector<int>(64));
  Recorder recorder{Wanted{}};
  run(&recorder, "tiles", {1, 1, 1}, {64, 1, 1}, in, out, 3);
  const Recording& recording = *recorder.result().recording;
  EXPECT_EQ(recording.steps.front().interval, 0U);
  EXPECT_EQ(recording.steps.back().interval, 6U);
  EXPECT_TRUE(std::ranges::any_of(recording.steps, &Step::is_barrier));
}

TEST_F(Recorded, ARaceHasBothAccessesAndFewSteps) {
  const std::uint64_t in = device_.put(std::vector<int>(128, 1));
  const std::uint64_t out = device_.put(std::vector<int>(128));
  const Finding race = finding_of("mirrored", {128, 1, 1}, in, out, "RL0302");
  Recorder recorder({.kind = Wanted::Kind::finding, .where = race.where, .other = race.other});
  run(&recorder, "mirrored", {1, 1, 1}, {128, 1, 1}, in, out);
  ASSERT_TRUE(recorder.result().recording);
  const Recording& recording = *recorder.result().recording;
  EXPECT_LE(recording.steps.size(), kMostStepsOfRace);
  ASSERT_EQ(recording.marks.size(), 2U);
  std::vector<std::uint64_t> touched;
  for (const Mark& mark : recording.marks) {
    ASSERT_NE(mark.access, kNone);
    const Access& access = recording.steps[mark.step].accesses[mark.access];
    const auto rank = std::popcount(access.lanes & ((1U << mark.lane) - 1U));
    touched.push_back(access.addresses[static_cast<std::size_t>(rank)]);
  }
  EXPECT_EQ(touched[0], touched[1]);
  EXPECT_EQ(recording.warps.size(), 2U);
}

TEST_F(Recorded, AFindingThatDoesNotComeBackIsNotRecorded) {
  const std::uint64_t in = device_.put(std::vector<int>(256));
  const std::uint64_t out = device_.put(std::vector<int>(64));
  Recorder recorder({.kind = Wanted::Kind::finding,
                     .where = {.file = REPLAY_KERNELS, .line = line_with("// sum")}});
  run(&recorder, "tiles", {1, 1, 1}, {64, 1, 1}, in, out, 3);
  EXPECT_FALSE(recorder.result().recording);
}

TEST_F(Recorded, TheLastStoreToAnElementIsFoundAndThenShown) {
  const std::uint64_t out = device_.put(std::vector<float>(32));
  const Wanted wanted{
      .kind = Wanted::Kind::last_store, .address = out + 3 * sizeof(float), .bytes = sizeof(float)};
  Recorder finder(wanted);
  run(&finder, "stores", {3, 1, 1}, {32, 1, 1}, out, 40);
  ASSERT_TRUE(finder.result().next);
  EXPECT_EQ(finder.result().next->block, 2U);  // of three blocks that all store to it
  Recorder recorder(*finder.result().next);
  run(&recorder, "stores", {3, 1, 1}, {32, 1, 1}, out, 40);
  ASSERT_TRUE(recorder.result().recording);
  const Recording& recording = *recorder.result().recording;
  ASSERT_EQ(recording.marks.size(), 1U);
  const Mark& mark = recording.marks.front();
  const Access& access = recording.steps[mark.step].accesses.at(mark.access);
  EXPECT_EQ(access.action, Action::store);
  EXPECT_EQ(access.addresses.front(), 3 * sizeof(float));
  EXPECT_EQ(mark.step + 1, recording.steps.size());
}

TEST_F(Recorded, LongRunsKeepTheirLastStepsAndWhatEarlierOnesLeft) {
  const std::uint64_t out = device_.put(std::vector<float>(32));
  const Wanted wanted{
      .kind = Wanted::Kind::last_store, .address = out, .bytes = 32 * sizeof(float)};
  Recorder finder(wanted);
  run(&finder, "stores", {1, 1, 1}, {32, 1, 1}, out, 20000);
  Recorder recorder(*finder.result().next);
  run(&recorder, "stores", {1, 1, 1}, {32, 1, 1}, out, 20000);
  const Recording& recording = *recorder.result().recording;
  EXPECT_LE(recording.steps.size(), kMostSteps);
  EXPECT_TRUE(recording.begins_late);
  EXPECT_FALSE(recording.warps.front().registers.empty());
  EXPECT_GT(recording.steps.front().number, 1000U);
}

}  // namespace
}  // namespace simgpu::replay

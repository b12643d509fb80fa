#include "simgpu/device/recording_wire.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "simgpu/device/wire.h"

namespace simgpu::recording_wire_test {
namespace {

replay::Recorded some_recording() {
  replay::Recording recording;
  recording.kernel = "gemm";
  recording.grid = {2, 3, 1};
  recording.block = {32, 1, 1};
  recording.parameters = {{.name = "n", .type = "int", .bytes = {1, 2, 3, 4}}};
  recording.arrays = {{"tile", 0, 64, "float", {4, 4}}};
  recording.allocations = {{0x1000, 64, "cudaMalloc"}};
  recording.files = {"", "gemm.cu"};
  recording.places = {{1, 12, {{"load", "gemm.cu", 40, 3}}}};
  recording.names = {"sum"};
  recording.blocks = {{{1, 0, 0}, 0, {{0, {1, 2, 3}, 0, 0}}}};
  recording.warps = {{.block = 0, .warp = 2, .registers = {}, .left_out = {{0, 7}}}};
  replay::Step step;
  step.place = 0;
  step.active = 5;
  step.registers = {{.reg = 3, .type = replay::ValueType::f32, .lanes = 5, .values = {1, 2}}};
  step.accesses = {{.bytes = 4, .lanes = 5, .addresses = {8, 16}, .allocation = 0}};
  step.shared = {{4, {9}, 2, 0}};
  recording.steps = {step};
  recording.marks = {{0, 2, 0}};
  return {.recording = recording, .next = {}};
}

TEST(RecordingWire, GivesBackWhatWasSent) {
  const replay::Recorded sent = some_recording();
  EXPECT_EQ(decode_recorded(encode(sent)).recording, sent.recording);
}

TEST(RecordingWire, WhatIsWantedComesAcross) {
  replay::Wanted wanted{.kind = replay::Wanted::Kind::finding,
                        .where = {.file = "gemm.cu", .line = 12, .thread = {5, 0, 0}},
                        .other = AccessSite{.file = "gemm.cu", .line = 14}};
  const replay::Wanted got = decode_wanted(encode(wanted));
  EXPECT_EQ(got.kind, wanted.kind);
  EXPECT_EQ(got.where, wanted.where);
  EXPECT_EQ(got.other, wanted.other);
}

TEST(RecordingWire, ARecordingThatRefersToWhatIsNotThereIsRefused) {
  const auto refused = [](const auto& change) {
    replay::Recorded recorded = some_recording();
    change(*recorded.recording);
    EXPECT_THROW(decode_recorded(encode(recorded)), wire::MessageError);
  };
  refused([](replay::Recording& one) { one.steps[0].warp = 1; });
  refused([](replay::Recording& one) { one.steps[0].place = 9; });
  refused([](replay::Recording& one) { one.steps[0].registers[0].lanes = 7; });
  refused([](replay::Recording& one) { one.steps[0].registers[0].name = 1; });
  refused([](replay::Recording& one) {
    one.steps[0].registers[0].type = static_cast<replay::ValueType>(99);
  });
  refused([](replay::Recording& one) { one.steps[0].accesses[0].addresses.pop_back(); });
  refused([](replay::Recording& one) { one.steps[0].accesses[0].allocation = 4; });
  refused([](replay::Recording& one) { one.steps[0].shared[0].first = 0xFFFFFFF0; });
  refused([](replay::Recording& one) { one.marks[0].step = 1; });
  refused([](replay::Recording& one) { one.marks[0].lane = 1; });
  refused([](replay::Recording& one) { one.places[0].file = 2; });
  refused([](replay::Recording& one) { one.warps[0].block = 1; });
}

TEST(RecordingWire, BytesThatAreCutOrChangedEndInAnErrorOrInARecording) {
  const std::vector<std::byte> whole = encode(some_recording());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(decode_recorded(std::span(whole).first(size)), wire::MessageError);
  }
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::byte> bytes = whole;
    bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    try {
      decode_recorded(bytes);
    } catch (const wire::MessageError&) {
    }
  }
}

}  // namespace
}  // namespace simgpu::recording_wire_test

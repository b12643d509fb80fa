#include "simgpu/machine_work/machine_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include "simgpu/sass/testing_code.h"

namespace simgpu {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kWarps = 10;

/// A launch by its PTX: one basic block that ten warps execute, an instruction a line.
struct Ptx {
  std::vector<InstructionInfo> program;
  std::vector<ExecutionCount> executed;
  LoadCountsByPc loads;
  AccessCountsByPc accesses;
  FirstAccesses first_accesses;
  KernelCounters counters;

  Ptx& add(InstructionClass cls, unsigned access_bytes = 0) {
    InstructionInfo& info = program.emplace_back();
    info.cls = cls;
    info.access_bytes = access_bytes;
    info.ptx_line = static_cast<std::uint32_t>(program.size());
    info.starts_block = program.size() == 1;
    executed.push_back({kWarps, 32 * kWarps});
    loads.emplace_back();
    accesses.emplace_back();
    first_accesses.emplace_back();
    return *this;
  }
  /// A load of one word from shared memory whose lanes are so many bytes apart.
  Ptx& load_shared(std::uint64_t offset, std::uint64_t stride, std::uint64_t wavefronts) {
    add(InstructionClass::shared_load, 4);
    accesses.back() = {.bank_requests = kWarps,
                       .wavefronts = kWarps * wavefronts,
                       .conflicts = kWarps * (wavefronts - 1)};
    counters.shared_load_requests += kWarps;
    counters.shared_load_wavefronts += accesses.back().wavefronts;
    counters.shared_load_bank_conflicts += accesses.back().conflicts;
    FirstAccess first{.mask = ~0U, .bytes = 4, .is_shared = true};
    for (std::uint64_t lane = 0; lane < kWarpSize; ++lane)
      first.address[lane] = offset + stride * lane;
    first_accesses.back() = std::make_shared<const FirstAccess>(first);
    return *this;
  }

  MachineWork in(const sass::testing::CodeText& text) const {
    const sass::CutCode code{text.code(), sass::basic_blocks(text.code())};
    sass::Alignment alignment;
    for (std::size_t i = 0; i < code.blocks.size(); ++i) {
      alignment.blocks.push_back({.threads = 32 * kWarps, .warps = kWarps});
    }
    return machine_work(code, alignment,
                        {program, executed, loads, accesses, first_accesses, counters});
  }
};

std::vector<InstructionClass> classes(const MachineWork& work) {
  std::vector<InstructionClass> all;
  for (const InstructionInfo& info : work.program) all.push_back(info.cls);
  return all;
}

TEST(MachineWork, FourLoadsThatAreOneAskOnceAndHaveTheConflictsOfThat) {
  Ptx ptx;
  for (std::uint64_t i = 0; i < 4; ++i) ptx.load_shared(4 * i, 16, 4);
  sass::testing::CodeText code;
  code.load(1, 16).exit();
  const MachineWork work = ptx.in(code);
  EXPECT_EQ(work.counters.shared_load_requests, kWarps);
  EXPECT_EQ(work.counters.shared_load_wavefronts, 4 * kWarps) << "512 bytes, 128 in each";
  EXPECT_EQ(work.counters.shared_load_bank_conflicts, 0U);
  EXPECT_EQ(work.accesses.at(0).wavefronts, 4 * kWarps);
}

TEST(MachineWork, AWideLoadHasNoFewerConflictsThanThePartsOfItHadOnTheMean) {
  Ptx ptx;
  for (std::uint64_t i = 0; i < 4; ++i) ptx.load_shared(4 * i, 16, 16);
  sass::testing::CodeText code;
  code.load(1, 16).exit();
  const MachineWork work = ptx.in(code);
  EXPECT_EQ(work.counters.shared_load_wavefronts, 16 * kWarps) << "the first access has 4";
  EXPECT_EQ(work.counters.shared_load_bank_conflicts, 12 * kWarps);
}

TEST(MachineWork, LoadsThatStayApartAskAsThePtxDoes) {
  Ptx ptx;
  ptx.load_shared(0, 8, 2).load_shared(4, 8, 2);
  sass::testing::CodeText code;
  code.load(1).load(2).exit();
  const MachineWork work = ptx.in(code);
  EXPECT_EQ(work.counters, ptx.counters);
}

TEST(MachineWork, WhatALoadWithoutMachineCodeFetchesIsFetchedByTheOneThatFindsIt) {
  Ptx ptx;
  // The first load fetches; the second asks for the same behind it, and a third for something that
  // has been in L1 for long.
  for (int i = 0; i < 3; ++i) {
    ptx.add(InstructionClass::global_load, 4);
    ptx.accesses.back() = {
        .requests = kWarps, .sectors = 4 * kWarps, .l1_hits = i == 0 ? 0 : 4 * kWarps};
  }
  ptx.loads.resize(ptx.program.size());
  ptx.loads[0] = {.requests = kWarps, .beyond_l1 = kWarps, .at_l2 = kWarps, .from_dram = kWarps};
  ptx.loads[1] = {.requests = kWarps, .of_recent = kWarps};
  ptx.loads[2] = {.requests = kWarps};
  const auto load = [](sass::testing::CodeText& code, std::uint32_t line) {
    code.add("LDG", InstructionClass::global_load, line);
  };
  sass::testing::CodeText without, whole;
  load(without, 2), load(without, 3);
  for (std::uint32_t line = 1; line <= 3; ++line) load(whole, line);
  const MachineWork work = ptx.in(without);
  EXPECT_EQ(work.loads.at(0), ptx.loads[0]);
  EXPECT_EQ(work.loads.at(1), ptx.loads[2]);
  EXPECT_EQ(ptx.in(whole).loads.at(1), ptx.loads[1]) << "there is a load that fetches";
}

TEST(MachineWork, AJumpAndItsBlocksLeadWhereTheCodeDoes) {
  Ptx ptx;
  ptx.add(InstructionClass::integer).add(InstructionClass::control).add(InstructionClass::integer);
  sass::testing::CodeText code;
  code.add("IADD3", InstructionClass::integer, 1)
      .branch(0, true, 2)
      .add("IADD3", InstructionClass::integer, 3)
      .exit();
  const MachineWork work = ptx.in(code);
  ASSERT_EQ(work.program.size(), 4U);
  EXPECT_TRUE(work.program[0].starts_block);
  EXPECT_THAT(work.program[0].leads_to, ElementsAre(0, 2));
  EXPECT_TRUE(work.program[2].starts_block);
  EXPECT_THAT(work.program[2].leads_to, ElementsAre(4)) << "one past the last: the end";
  EXPECT_THAT(work.ptx_of, ElementsAre(0, 1, 2, 2)) << "what has no line belongs to what precedes";
}

TEST(MachineWork, IntegersAreMultipliedWhereFloatsAreAndFloatsComparedWhereIntegersAre) {
  Ptx ptx;
  ptx.add(InstructionClass::integer).add(InstructionClass::fp32);
  sass::testing::CodeText code;
  code.add("IMAD", InstructionClass::integer, 1).add("FSETP", InstructionClass::fp32, 2);
  EXPECT_THAT(classes(ptx.in(code)),
              ElementsAre(InstructionClass::fp32, InstructionClass::integer));
}

TEST(MachineWork, AProductOfMatricesInTwoInstructionsIsHalfInEach) {
  Ptx ptx;
  ptx.add(InstructionClass::tensor);
  ptx.program.back().flops_per_warp = 8192;
  sass::testing::CodeText code;
  code.add("HMMA", InstructionClass::tensor, 1).add("HMMA", InstructionClass::tensor, 1).exit();
  const MachineWork work = ptx.in(code);
  EXPECT_EQ(work.program[0].flops_per_warp, 4096U);
  EXPECT_EQ(work.program[1].flops_per_warp, 4096U);
}

TEST(MachineWork, AtomicsThatAWarpAddsUpBeforeAreOneLanes) {
  Ptx ptx;
  ptx.add(InstructionClass::shared_atomic, 4);
  ptx.accesses.back() = {.bank_requests = kWarps, .wavefronts = 32 * kWarps};
  ptx.counters.shared_atomic_requests = kWarps;
  ptx.counters.shared_atomic_wavefronts = 32 * kWarps;
  sass::testing::CodeText lane_by_lane;
  lane_by_lane.add("ATOMS", InstructionClass::shared_atomic, 1).exit();
  EXPECT_EQ(ptx.in(lane_by_lane).counters.shared_atomic_wavefronts, 32 * kWarps);
  sass::testing::CodeText added_before;
  added_before.add("REDUX", InstructionClass::warp_exchange, 1)
      .add("ATOMS", InstructionClass::shared_atomic, 1)
      .exit();
  EXPECT_EQ(ptx.in(added_before).counters.shared_atomic_wavefronts, kWarps);
}

TEST(MachineWork, LoadsOfSpilledRegistersAskForNothingOfThePtx) {
  Ptx ptx;
  ptx.add(InstructionClass::fp32);
  sass::testing::CodeText code;
  code.add("LDL", InstructionClass::local_load, 1).exit();
  const MachineWork work = ptx.in(code);
  EXPECT_EQ(work.program[0].cls, InstructionClass::local_load);
  EXPECT_EQ(work.accesses[0], AccessCounts{});
}

}  // namespace
}  // namespace simgpu

#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

#include "simgpu/exec/accesses_testing.h"
#include "simgpu/exec/engine.h"
#include "simgpu/model/time_model.h"
#include "simgpu/ptx/parser.h"

/// Holds sampled launches against whole ones.
namespace simgpu::testing {

inline constexpr double kTolerance = 0.01;

struct Shape {
  const char* kernel = nullptr;
  Dim3 grid, block;
  std::vector<std::uint64_t> megabytes{};  ///< of the arrays that are the first parameters
  std::vector<int> numbers{};              ///< the parameters after them
  std::uint32_t shared = 0;
  bool sampled = true;  ///< whether it can be
  /// What the first array begins with; all else is zero.
  std::vector<int> first_array{};
};

struct Outcome {
  LaunchResult result;
  TimeBreakdown time;
  double seconds = 0;
};

/// On the GPU whose specification is the test's parameter.
class SampledLaunch : public ::testing::TestWithParam<const char*> {
 protected:
  explicit SampledLaunch(const char* ptx)
      : gpu_(gpu_spec::load(std::filesystem::path(SIMGPU_SPECIFICATIONS) /
                            (std::string(GetParam()) + ".toml"))) {
    std::ifstream file(ptx);
    std::stringstream text;
    text << file.rdbuf();
    program_ = lower(ptx::parse(text.str()), {});
  }

  Outcome run(const Shape& shape, bool sampled, unsigned workers = 2, std::uint64_t secret = 0) {
    DeviceMemory memory(std::uint64_t{4} << 30);
    const KernelInfo& info = *find_kernel(*program_, shape.kernel);
    std::vector<std::byte> parameters(info.parameter_bytes);
    std::size_t next = 0;
    for (const std::uint64_t megabytes : shape.megabytes) {
      const std::uint64_t address = memory.allocate(megabytes << 20, "array").value();
      if (next == 0) memory.write(address, std::as_bytes(std::span(shape.first_array)));
      std::memcpy(&parameters[info.parameter_offsets[next++]], &address, sizeof address);
    }
    if (!shape.numbers.empty()) {
      std::memcpy(&parameters.at(info.parameter_offsets.at(next)), shape.numbers.data(),
                  sizeof(int) * shape.numbers.size());
    }
    const LaunchShape occupied{.grid = shape.grid,
                               .block = shape.block,
                               .registers_per_thread = 32,
                               .static_shared_bytes = info.static_shared_bytes,
                               .dynamic_shared_bytes = shape.shared};
    LaunchRequest request;
    request.kernel = shape.kernel;
    request.grid = shape.grid;
    request.block = shape.block;
    request.dynamic_shared_bytes = shape.shared;
    request.parameters = parameters;
    const std::uint64_t per_sm = occupancy(occupied, gpu_).blocks_per_sm;
    request.resident_blocks = per_sm * static_cast<std::uint64_t>(gpu_.sm_count);
    request.l1_bytes_per_block = static_cast<std::uint64_t>(gpu_.l1_bytes_per_sm) / 2 / per_sm;
    const auto begin = std::chrono::steady_clock::now();
    Outcome outcome;
    outcome.result = execute(*program_, request, memory, gpu_,
                             {.workers = workers,
                              .checkers = false,
                              .secret = secret,
                              .places = true,
                              .sampled = sampled});
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    outcome.seconds = spent.count();
    outcome.time =
        predict_time(outcome.result.counters, occupied,
                     {info.instructions, outcome.result.executed, outcome.result.balance}, gpu_);
    return outcome;
  }

  /// The launch can be sampled, or cannot, as its shape says; and its samples tell.
  void expect_told_from_samples(const Shape& shape) {
    EXPECT_EQ(expect_told(shape), shape.sampled) << shape.kernel;
  }

  /// Other blocks run of the launch with another secret, and tell the same. All of them store
  /// `bytes` to one array.
  void expect_told_by_other_blocks(const Shape& shape, std::uint64_t bytes) {
    SCOPED_TRACE(shape.kernel);
    const Outcome one = run(shape, true, 2, 1);
    const Outcome other = run(shape, true, 2, 2);
    ASSERT_GT(one.result.sampled_blocks, 0U);
    EXPECT_NE(one.result.settled.ranges, other.result.settled.ranges);
    EXPECT_EQ(one.time.total_us, other.time.total_us);
    EXPECT_EQ(one.result.counters.l2_hit_sectors, other.result.counters.l2_hit_sectors);
    ASSERT_EQ(one.result.settled.of_grid.size(), 1U);
    EXPECT_EQ(one.result.settled.of_grid, other.result.settled.of_grid);
    EXPECT_EQ(one.result.settled.of_grid[0].bytes, bytes);
  }

  /// Whether the launch was sampled; what a sampled one tells must hold.
  bool expect_told(const Shape& shape) {
    SCOPED_TRACE(shape.kernel);
    const Outcome whole = run(shape, false);
    const Outcome sampled = run(shape, true);
    EXPECT_EQ(whole.result.status, LaunchStatus::ok);
    EXPECT_EQ(sampled.result.status, LaunchStatus::ok);
    EXPECT_EQ(whole.result.sampled_blocks, 0U);
    expect_near(whole.result.counters, sampled.result.counters);
    // All that the time model knows of a launch, besides its counters.
    EXPECT_TRUE(std::ranges::equal(whole.result.executed, sampled.result.executed,
                                   [](const ExecutionCount& a, const ExecutionCount& b) {
                                     return a.warps == b.warps && a.threads == b.threads;
                                   }));
    expect_near(whole.result.loads, sampled.result.loads);
    expect_accesses_add_up(whole.result);
    expect_accesses_add_up(sampled.result);
    EXPECT_EQ(sampled.result.accesses, whole.result.accesses);
    expect_same(whole.result.places.get(), sampled.result.places.get());
    for (const auto& [term, time] : whole.time.terms) {
      EXPECT_NEAR(sampled.time.terms.at(term), time, kTolerance * time) << name_of(term);
    }
    EXPECT_NEAR(sampled.time.total_us, whole.time.total_us, kTolerance * whole.time.total_us);
    EXPECT_EQ(sampled.time.limiter, whole.time.limiter);
    std::printf("%-14s %-6s %8llu of %8llu blocks, %7.3f s for %7.3f s, time off by %+.3f %%\n",
                shape.kernel, GetParam(),
                static_cast<unsigned long long>(sampled.result.sampled_blocks),
                static_cast<unsigned long long>(shape.grid.count()), sampled.seconds, whole.seconds,
                100 * (sampled.time.total_us / whole.time.total_us - 1));
    return sampled.result.sampled_blocks != 0;
  }

  static void expect_same(const TouchedPlaces* whole, const TouchedPlaces* sampled) {
    ASSERT_EQ(whole == nullptr, sampled == nullptr);
    if (whole == nullptr) return;
    EXPECT_TRUE(whole->read == sampled->read);
    EXPECT_TRUE(whole->written == sampled->written);
    EXPECT_TRUE(whole->updated == sampled->updated);
  }

  static void expect_near(const KernelCounters& whole, const KernelCounters& sampled) {
    const auto near = [](const char* what, std::uint64_t a, std::uint64_t b) {
      EXPECT_NEAR(static_cast<double>(b), static_cast<double>(a),
                  kTolerance * static_cast<double>(a))
          << what;
    };
    EXPECT_EQ(sampled.warp_instructions, whole.warp_instructions);
    EXPECT_EQ(sampled.thread_instructions, whole.thread_instructions);
    EXPECT_EQ(sampled.instructions_by_class, whole.instructions_by_class);
    EXPECT_EQ(sampled.flops, whole.flops);
    EXPECT_EQ(sampled.global_load_requests, whole.global_load_requests);
    EXPECT_EQ(sampled.global_load_sectors, whole.global_load_sectors);
    EXPECT_EQ(sampled.global_load_bytes, whole.global_load_bytes);
    EXPECT_EQ(sampled.global_store_bytes, whole.global_store_bytes);
    EXPECT_EQ(sampled.l1_hit_sectors, whole.l1_hit_sectors);
    EXPECT_EQ(sampled.l1_tag_lookups, whole.l1_tag_lookups);
    EXPECT_EQ(sampled.l2_read_sectors, whole.l2_read_sectors);
    EXPECT_EQ(sampled.l2_write_sectors, whole.l2_write_sectors);
    EXPECT_EQ(sampled.shared_load_wavefronts, whole.shared_load_wavefronts);
    EXPECT_EQ(sampled.shared_store_wavefronts, whole.shared_store_wavefronts);
    EXPECT_EQ(sampled.shared_load_bank_conflicts, whole.shared_load_bank_conflicts);
    EXPECT_EQ(sampled.branches, whole.branches);
    EXPECT_EQ(sampled.divergent_branches, whole.divergent_branches);
    EXPECT_EQ(sampled.barriers, whole.barriers);
    near("L2 hits", whole.l2_hit_sectors + whole.dram_read_bytes / 32,
         sampled.l2_hit_sectors + sampled.dram_read_bytes / 32);
    near("DRAM reads", whole.dram_read_bytes, sampled.dram_read_bytes);
    near("DRAM writes", whole.dram_write_bytes, sampled.dram_write_bytes);
  }

  /// Of each instruction's requests, the shares that went further: within two standard errors of
  /// what one set of the cache in sixteen tells. Lines that many blocks ask for together are few,
  /// and one that lies in such a set counts for all of them: so what DRAM serves one instruction is
  /// told less surely than what it serves all.
  static void expect_near(const LoadCountsByPc& whole, const LoadCountsByPc& sampled) {
    constexpr double kOneSetIn = 16;
    const auto near = [](const char* what, std::size_t pc, std::uint64_t part_a,
                         std::uint64_t all_a, std::uint64_t part_b, std::uint64_t all_b,
                         double of_few_lines = 0) {
      ASSERT_EQ(all_a == 0, all_b == 0) << what << " of instruction " << pc;
      if (all_a == 0) return;
      EXPECT_NEAR(static_cast<double>(part_b) / static_cast<double>(all_b),
                  static_cast<double>(part_a) / static_cast<double>(all_a),
                  of_few_lines + 0.02 + 2 * std::sqrt(kOneSetIn / static_cast<double>(all_b)))
          << what << " of instruction " << pc;
    };
    ASSERT_EQ(sampled.size(), whole.size());
    constexpr double kOfFewLines = 0.1;
    LoadCounts all_whole, all_sampled;
    for (std::size_t pc = 0; pc < whole.size(); ++pc) {
      all_whole.add_times(whole[pc], 1);
      all_sampled.add_times(sampled[pc], 1);
      const LoadCounts& a = whole[pc];
      const LoadCounts& b = sampled[pc];
      near("loads beyond L1", pc, a.beyond_l1, a.requests, b.beyond_l1, b.requests);
      near("loads of recent lines", pc, a.of_recent, a.requests, b.of_recent, b.requests);
      near("loads from DRAM", pc, a.from_dram, a.at_l2, b.from_dram, b.at_l2, kOfFewLines);
    }
    near("all loads from DRAM", whole.size(), all_whole.from_dram, all_whole.at_l2,
         all_sampled.from_dram, all_sampled.at_l2, kOfFewLines / 4);
  }

  gpu_spec::GpuSpec gpu_;
  std::shared_ptr<const Program> program_;
};

}  // namespace simgpu::testing

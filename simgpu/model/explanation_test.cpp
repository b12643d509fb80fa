#include "simgpu/model/explanation.h"

#include <gmock/gmock.h>

#include <vector>

namespace simgpu {
namespace {

using testing::HasSubstr;

KernelRecord bound_by_shared_memory() {
  KernelRecord kernel;
  kernel.name = "tiled";
  kernel.grid = {250, 1, 1};
  kernel.block = {256, 1, 1};
  kernel.blocks_per_sm = 2;
  kernel.occupancy_limiter = OccupancyLimiter::registers;
  kernel.time.total_us = 111;
  kernel.time.launch_us = 1;
  kernel.time.limiter = Limiter::shared;
  kernel.time.terms = {
      {Limiter::shared, 100}, {Limiter::fp32, 36}, {Limiter::latency, 20}, {Limiter::fp64, 0}};
  kernel.time.wave_quantisation = 1.2;
  return kernel;
}

TEST(ExplanationTest, TellsTheLimiterTheNextOneAndWhatNothingHides) {
  const Explanation why = explain(bound_by_shared_memory(), 100);
  EXPECT_EQ(why.limiter, "shared memory");
  EXPECT_THAT(why.meaning, HasSubstr("100 us of 111 us"));
  EXPECT_THAT(why.change, HasSubstr("registers"));
  EXPECT_EQ(why.next_limiter, Limiter::fp32);
  EXPECT_DOUBLE_EQ(why.most_gain, 3);  // 111 us over 36 us and the launch
  EXPECT_DOUBLE_EQ(why.exposed_us, 10);
  EXPECT_DOUBLE_EQ(why.waves, 1.25);
}

TEST(ExplanationTest, TheTerminalShowsEveryTermThatCounts) {
  const std::string text = explain_in_words(bound_by_shared_memory(), 100);
  EXPECT_THAT(text, HasSubstr("tiled: 111 us modelled (81 to 150), 250 blocks of 256 threads"));
  EXPECT_THAT(text, HasSubstr("shared 100 us, fp32 36 us, latency 20 us, launch 1 us"));
  EXPECT_THAT(text, HasSubstr("waves: 1.25, 2 blocks at a time on each of 100"));
  EXPECT_THAT(text, testing::Not(HasSubstr("fp64")));
}

TEST(ExplanationTest, TheBandOfALongTimeIsInItsUnit) {
  KernelRecord kernel = bound_by_shared_memory();
  kernel.time.total_us = 20'500;
  EXPECT_THAT(explain_in_words(kernel, 100), HasSubstr("tiled: 20.5 ms modelled (15 to 28), "));
}

TEST(ExplanationTest, ALaunchThatOutweighsItsWorkIsSaidToBeOne) {
  KernelRecord kernel;
  kernel.time.total_us = 1.6;
  kernel.time.launch_us = 1.5;
  kernel.time.limiter = Limiter::launch;
  kernel.time.terms = {{Limiter::dram, 0.1}};
  const Explanation why = explain(kernel, 100);
  EXPECT_THAT(why.meaning, HasSubstr("starting the kernel takes longer"));
  EXPECT_DOUBLE_EQ(why.exposed_us, 0);
  EXPECT_DOUBLE_EQ(why.most_gain, 1);
}

TEST(ExplanationTest, WithoutItsLimiterAKernelTakesWhatIsLeft) {
  const TimeBreakdown time = bound_by_shared_memory().time;
  EXPECT_DOUBLE_EQ(limiter_us(time), 100);
  EXPECT_DOUBLE_EQ(time_without_limiter(time, 0), 37) << "fp32 and the launch";
  EXPECT_DOUBLE_EQ(time_without_limiter(time, 60), 61) << "its own least is more";
  EXPECT_DOUBLE_EQ(time_without_limiter(time, 1000), 111) << "nothing is to gain";
}

/// A kernel of one limiter, on a GPU of 100 multiprocessors with room for two blocks each.
KernelRecord limited_by(Limiter limiter) {
  KernelRecord kernel = bound_by_shared_memory();
  kernel.time.limiter = limiter;
  kernel.time.terms[limiter] = 100;
  kernel.theoretical_occupancy = 0.25;
  KernelCounters& c = kernel.counters;
  c.ffma = 3200;
  c.warp_instructions = 500;
  c.shared_load_requests = c.shared_load_wavefronts = 200;
  c.global_load_requests = 100;
  c.global_load_bytes = 100 * 128;
  c.global_load_sectors = 400;
  c.l2_read_sectors = 1000000;
  c.dram_read_bytes = 64000000;
  return kernel;
}

struct Proven {
  Limiter limiter;
  const char* counter;
  double value;
  const char* says;
};

TEST(ProofTest, EachLimiterHasTheCounterThatTellsIt) {
  for (const Proven& one :
       std::vector<Proven>{{Limiter::shared, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                            200, "2 loads from it for each multiply-add"},
                           {Limiter::l1, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 100,
                            "1 loads of global memory for each multiply-add"},
                           {Limiter::l2, "lts__t_sectors_op_read.sum", 1000000,
                            "32 MB pass between L2 and the multiprocessors"},
                           {Limiter::dram, "dram__bytes_read.sum", 64000000, "64 MB cross DRAM"},
                           {Limiter::issue, "smsp__inst_executed.sum", 500,
                            "5 instructions of a warp for each multiply-add"},
                           {Limiter::fp32, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                            3200, "3.2e+03 multiply-adds"},
                           {Limiter::latency, "sm__maximum_warps_per_active_cycle_pct", 25,
                            "25 % of the warps fit, limited by registers"}}) {
    const Proof proof = proof_of(limited_by(one.limiter), 100);
    EXPECT_EQ(proof.counter, one.counter);
    EXPECT_EQ(proof.value, one.value) << name_of(one.limiter);
    EXPECT_EQ(proof.says, one.says);
  }
}

TEST(ProofTest, EveryTermOfTheModelHasOne) {
  for (std::uint8_t i = 0; i < static_cast<std::uint8_t>(Limiter::host_loads); ++i) {
    const auto limiter = static_cast<Limiter>(i);
    EXPECT_NE(proof_of(limited_by(limiter), 100).counter, "") << name_of(limiter);
  }
  EXPECT_EQ(proof_of(KernelRecord{}, 100).counter, "");
}

TEST(LimiterTest, EachHasANameOfItsOwnAndWords) {
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(kLastLimiter); ++i) {
    const auto limiter = static_cast<Limiter>(i);
    EXPECT_EQ(limiter_named(name_of(limiter)), limiter);
    EXPECT_NE(words_of(limiter), "");
  }
  EXPECT_EQ(limiter_named("no such limiter"), std::nullopt);
}

TEST(LimiterTest, AProductOfTheLibraryIsBoundByTheTensorCoresWhateverItsType) {
  EXPECT_EQ(arithmetic_limiter("bf16_tensor"), Limiter::tensor);
  EXPECT_EQ(arithmetic_limiter("tf32_tensor"), Limiter::tensor);
  EXPECT_EQ(arithmetic_limiter("fp32"), Limiter::fp32);
  EXPECT_EQ(arithmetic_limiter("fp64"), Limiter::fp64);
}

TEST(ProofTest, WasteIsToldBeforeWork) {
  KernelRecord conflicts = limited_by(Limiter::shared);
  conflicts.counters.shared_load_bank_conflicts = 150;
  EXPECT_EQ(proof_of(conflicts, 100).says, "75 % of its wavefronts are bank conflicts");
  EXPECT_EQ(proof_of(conflicts, 100).value, 150);
  KernelRecord scattered = limited_by(Limiter::l1);
  scattered.counters.global_load_sectors = 3200;
  EXPECT_EQ(proof_of(scattered, 100).says, "each load of a warp touches 32 sectors");
  KernelRecord own = limited_by(Limiter::l1);
  own.counters.local_load_requests = own.counters.local_store_requests = 50;
  own.counters.local_load_sectors = own.counters.local_store_sectors = 50 * 32;
  own.counters.local_tag_lookups = 100 * 32;
  EXPECT_EQ(proof_of(own, 100).says,
            "each access of threads to arrays of their own touches 32 sectors");
  EXPECT_EQ(proof_of(own, 100).value, 1600);
  KernelRecord spilled = limited_by(Limiter::dram);
  EXPECT_EQ(proof_of(spilled, 100).change, "");
  spilled.counters.local_touched_sectors = 1000;
  EXPECT_THAT(proof_of(spilled, 100).change, testing::HasSubstr("arrays of threads"));
  spilled.counters.local_load_requests = spilled.counters.local_spilling_requests = 1000;
  EXPECT_THAT(proof_of(spilled, 100).change, testing::HasSubstr("hold fewer values at a time"));
  KernelRecord table = limited_by(Limiter::constant);
  table.counters.constant_load_requests = 10;
  table.counters.constant_load_wavefronts = 320;
  EXPECT_EQ(proof_of(table, 100).says, "each load of constants reads 32 different words");
  KernelRecord few = limited_by(Limiter::latency);
  few.grid = {150, 1, 1};
  EXPECT_EQ(proof_of(few, 100).says, "the GPU has room for 200 blocks at a time");
  EXPECT_EQ(proof_of(few, 100).value, 150);
  few.grid = {3, 1, 1};
  few.time.wave_quantisation = 33;
  EXPECT_EQ(proof_of(few, 100).says, "the GPU has 100 multiprocessors, and most have none");
}

TEST(ExplanationTest, NothingIsSaidOfAKernelWithoutTerms) { EXPECT_EQ(explain({}, 100).waves, 0); }

}  // namespace
}  // namespace simgpu

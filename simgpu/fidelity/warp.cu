#include <cooperative_groups.h>

#include <string>

#include "ops.cuh"

/// What lanes of one warp tell each other. Each item gives a word for each lane.
namespace {

using fidelity::Buffer;
using fidelity::u32;
using fidelity::u64;

struct WarpItem {
  std::string item;
  void (*launch)(u64* out);
};

std::vector<WarpItem>& items() {
  static std::vector<WarpItem> all;
  return all;
}

template <class F>
__global__ void in_warp(u64* out) {
  const u32 lane = threadIdx.x;
  F::of(lane, lane * 0x01010101U + 0x100, out[lane]);
}

template <class F>
void launch_in_warp(u64* out) {
  in_warp<F><<<1, 32>>>(out);
}

bool add_item(const char* item, void (*launch)(u64*)) {
  items().push_back({item, launch});
  return true;
}

// WARP(statements that set `out` of `lane` and of `x`, a value that differs in each lane)
#define WARP(...)                                                                            \
  struct FIDELITY_LINE(Item) {                                                               \
    static __device__ void of([[maybe_unused]] u32 lane, [[maybe_unused]] u32 x, u64& out) { \
      __VA_ARGS__;                                                                           \
    }                                                                                        \
  };                                                                                         \
  const bool FIDELITY_LINE(added_) = add_item(#__VA_ARGS__, launch_in_warp<FIDELITY_LINE(Item)>)

#define SHFL(mode, b, clamp)                                                                       \
  WARP(u32 d; u32 p; asm volatile("{ .reg .pred q; shfl.sync." mode ".b32 %0|q, %2, " b ", " clamp \
                                  ", 0xffffffff; selp.u32 %1, 1, 0, q; }"                          \
                                  : "=r"(d), "=r"(p)                                               \
                                  : "r"(x));                                                       \
       out = d | u64{p} << 32)

constexpr unsigned kAll = 0xffffffff;
SHFL("up", "0", "0");
SHFL("up", "0", "0x1000");
SHFL("up", "0", "0x1800");
SHFL("up", "0", "0x1c00");
SHFL("up", "0", "0x5");
SHFL("up", "1", "0");
SHFL("up", "1", "0x1000");
SHFL("up", "1", "0x1800");
SHFL("up", "1", "0x1c00");
SHFL("up", "1", "0x5");
SHFL("up", "5", "0");
SHFL("up", "5", "0x1000");
SHFL("up", "5", "0x1800");
SHFL("up", "5", "0x1c00");
SHFL("up", "5", "0x5");
SHFL("up", "16", "0");
SHFL("up", "16", "0x1000");
SHFL("up", "16", "0x1800");
SHFL("up", "16", "0x1c00");
SHFL("up", "16", "0x5");
SHFL("up", "31", "0");
SHFL("up", "31", "0x1000");
SHFL("up", "31", "0x1800");
SHFL("up", "31", "0x1c00");
SHFL("up", "31", "0x5");
SHFL("up", "33", "0");
SHFL("up", "33", "0x1000");
SHFL("up", "33", "0x1800");
SHFL("up", "33", "0x1c00");
SHFL("up", "33", "0x5");
SHFL("up", "64", "0");
SHFL("up", "64", "0x1000");
SHFL("up", "64", "0x1800");
SHFL("up", "64", "0x1c00");
SHFL("up", "64", "0x5");
SHFL("down", "0", "0x1f");
SHFL("down", "0", "0x101f");
SHFL("down", "0", "0x181f");
SHFL("down", "0", "0x1c1f");
SHFL("down", "0", "0x10");
SHFL("down", "1", "0x1f");
SHFL("down", "1", "0x101f");
SHFL("down", "1", "0x181f");
SHFL("down", "1", "0x1c1f");
SHFL("down", "1", "0x10");
SHFL("down", "5", "0x1f");
SHFL("down", "5", "0x101f");
SHFL("down", "5", "0x181f");
SHFL("down", "5", "0x1c1f");
SHFL("down", "5", "0x10");
SHFL("down", "16", "0x1f");
SHFL("down", "16", "0x101f");
SHFL("down", "16", "0x181f");
SHFL("down", "16", "0x1c1f");
SHFL("down", "16", "0x10");
SHFL("down", "31", "0x1f");
SHFL("down", "31", "0x101f");
SHFL("down", "31", "0x181f");
SHFL("down", "31", "0x1c1f");
SHFL("down", "31", "0x10");
SHFL("down", "33", "0x1f");
SHFL("down", "33", "0x101f");
SHFL("down", "33", "0x181f");
SHFL("down", "33", "0x1c1f");
SHFL("down", "33", "0x10");
SHFL("down", "64", "0x1f");
SHFL("down", "64", "0x101f");
SHFL("down", "64", "0x181f");
SHFL("down", "64", "0x1c1f");
SHFL("down", "64", "0x10");
SHFL("bfly", "0", "0x1f");
SHFL("bfly", "0", "0x101f");
SHFL("bfly", "0", "0x181f");
SHFL("bfly", "0", "0x8");
SHFL("bfly", "1", "0x1f");
SHFL("bfly", "1", "0x101f");
SHFL("bfly", "1", "0x181f");
SHFL("bfly", "1", "0x8");
SHFL("bfly", "5", "0x1f");
SHFL("bfly", "5", "0x101f");
SHFL("bfly", "5", "0x181f");
SHFL("bfly", "5", "0x8");
SHFL("bfly", "16", "0x1f");
SHFL("bfly", "16", "0x101f");
SHFL("bfly", "16", "0x181f");
SHFL("bfly", "16", "0x8");
SHFL("bfly", "31", "0x1f");
SHFL("bfly", "31", "0x101f");
SHFL("bfly", "31", "0x181f");
SHFL("bfly", "31", "0x8");
SHFL("bfly", "33", "0x1f");
SHFL("bfly", "33", "0x101f");
SHFL("bfly", "33", "0x181f");
SHFL("bfly", "33", "0x8");
SHFL("bfly", "64", "0x1f");
SHFL("bfly", "64", "0x101f");
SHFL("bfly", "64", "0x181f");
SHFL("bfly", "64", "0x8");
SHFL("idx", "0", "0x1f");
SHFL("idx", "0", "0x101f");
SHFL("idx", "0", "0x181f");
SHFL("idx", "0", "0x8");
SHFL("idx", "1", "0x1f");
SHFL("idx", "1", "0x101f");
SHFL("idx", "1", "0x181f");
SHFL("idx", "1", "0x8");
SHFL("idx", "5", "0x1f");
SHFL("idx", "5", "0x101f");
SHFL("idx", "5", "0x181f");
SHFL("idx", "5", "0x8");
SHFL("idx", "16", "0x1f");
SHFL("idx", "16", "0x101f");
SHFL("idx", "16", "0x181f");
SHFL("idx", "16", "0x8");
SHFL("idx", "31", "0x1f");
SHFL("idx", "31", "0x101f");
SHFL("idx", "31", "0x181f");
SHFL("idx", "31", "0x8");
SHFL("idx", "33", "0x1f");
SHFL("idx", "33", "0x101f");
SHFL("idx", "33", "0x181f");
SHFL("idx", "33", "0x8");
SHFL("idx", "64", "0x1f");
SHFL("idx", "64", "0x101f");
SHFL("idx", "64", "0x181f");
SHFL("idx", "64", "0x8");
WARP(out = __shfl_up_sync(kAll, x, 1, 32));
WARP(out = __shfl_up_sync(kAll, x, 1, 16));
WARP(out = __shfl_up_sync(kAll, x, 1, 8));
WARP(out = __shfl_up_sync(kAll, x, 1, 2));
WARP(out = __shfl_up_sync(kAll, x, 3, 32));
WARP(out = __shfl_up_sync(kAll, x, 3, 16));
WARP(out = __shfl_up_sync(kAll, x, 3, 8));
WARP(out = __shfl_up_sync(kAll, x, 3, 2));
WARP(out = __shfl_up_sync(kAll, x, 17, 32));
WARP(out = __shfl_up_sync(kAll, x, 17, 16));
WARP(out = __shfl_up_sync(kAll, x, 17, 8));
WARP(out = __shfl_up_sync(kAll, x, 17, 2));
WARP(out = __shfl_up_sync(kAll, x, 40, 32));
WARP(out = __shfl_up_sync(kAll, x, 40, 16));
WARP(out = __shfl_up_sync(kAll, x, 40, 8));
WARP(out = __shfl_up_sync(kAll, x, 40, 2));
WARP(out = __shfl_down_sync(kAll, x, 1, 32));
WARP(out = __shfl_down_sync(kAll, x, 1, 16));
WARP(out = __shfl_down_sync(kAll, x, 1, 8));
WARP(out = __shfl_down_sync(kAll, x, 1, 2));
WARP(out = __shfl_down_sync(kAll, x, 3, 32));
WARP(out = __shfl_down_sync(kAll, x, 3, 16));
WARP(out = __shfl_down_sync(kAll, x, 3, 8));
WARP(out = __shfl_down_sync(kAll, x, 3, 2));
WARP(out = __shfl_down_sync(kAll, x, 17, 32));
WARP(out = __shfl_down_sync(kAll, x, 17, 16));
WARP(out = __shfl_down_sync(kAll, x, 17, 8));
WARP(out = __shfl_down_sync(kAll, x, 17, 2));
WARP(out = __shfl_down_sync(kAll, x, 40, 32));
WARP(out = __shfl_down_sync(kAll, x, 40, 16));
WARP(out = __shfl_down_sync(kAll, x, 40, 8));
WARP(out = __shfl_down_sync(kAll, x, 40, 2));
WARP(out = __shfl_xor_sync(kAll, x, 1, 32));
WARP(out = __shfl_xor_sync(kAll, x, 1, 16));
WARP(out = __shfl_xor_sync(kAll, x, 1, 8));
WARP(out = __shfl_xor_sync(kAll, x, 1, 2));
WARP(out = __shfl_xor_sync(kAll, x, 3, 32));
WARP(out = __shfl_xor_sync(kAll, x, 3, 16));
WARP(out = __shfl_xor_sync(kAll, x, 3, 8));
WARP(out = __shfl_xor_sync(kAll, x, 3, 2));
WARP(out = __shfl_xor_sync(kAll, x, 17, 32));
WARP(out = __shfl_xor_sync(kAll, x, 17, 16));
WARP(out = __shfl_xor_sync(kAll, x, 17, 8));
WARP(out = __shfl_xor_sync(kAll, x, 17, 2));
WARP(out = __shfl_xor_sync(kAll, x, 40, 32));
WARP(out = __shfl_xor_sync(kAll, x, 40, 16));
WARP(out = __shfl_xor_sync(kAll, x, 40, 8));
WARP(out = __shfl_xor_sync(kAll, x, 40, 2));
WARP(out = __shfl_sync(kAll, x, 0, 32));
WARP(out = __shfl_sync(kAll, x, 0, 8));
WARP(out = __shfl_sync(kAll, x, 5, 32));
WARP(out = __shfl_sync(kAll, x, 5, 8));
WARP(out = __shfl_sync(kAll, x, -1, 32));
WARP(out = __shfl_sync(kAll, x, -1, 8));
WARP(out = __shfl_sync(kAll, x, 40, 32));
WARP(out = __shfl_sync(kAll, x, 40, 8));
WARP(out = __shfl_sync(kAll, x, lane * 7, 16));
WARP(if (lane < 16) out = __shfl_down_sync(0xffff, x, 4));
WARP(if (lane % 2 == 0) out = __shfl_xor_sync(0x55555555, x, 2));
WARP(out = __shfl_down_sync(kAll, x * 0x100000001ULL, 3));
WARP(out = __reduce_add_sync(kAll, x));
WARP(out = static_cast<u32>(__reduce_add_sync(kAll, static_cast<int>(x) - 0x10000000)));
WARP(out = __reduce_min_sync(kAll, x));
WARP(out = static_cast<u32>(__reduce_min_sync(kAll, static_cast<int>(x) - 0x10000000)));
WARP(out = __reduce_max_sync(kAll, x));
WARP(out = static_cast<u32>(__reduce_max_sync(kAll, static_cast<int>(x) - 0x10000000)));
WARP(out = __reduce_and_sync(kAll, x));
WARP(out = __reduce_or_sync(kAll, x));
WARP(out = __reduce_xor_sync(kAll, x));
WARP(out = __reduce_add_sync(kAll, 0xf0000000U + lane));
WARP(if (lane > 20) out = __reduce_add_sync(0xffe00000, x));
WARP(if (lane > 20) out = __reduce_min_sync(0xffe00000, x));
WARP(out = __ballot_sync(kAll, lane % 3));
WARP(out = __any_sync(kAll, lane == 7));
WARP(out = __any_sync(kAll, lane == 70));
WARP(out = __all_sync(kAll, lane < 32));
WARP(out = __all_sync(kAll, lane));
WARP(out = __match_any_sync(kAll, lane % 5));
WARP(out = __match_any_sync(kAll, static_cast<u64>(lane / 8) << 40));
WARP(out = __activemask());
WARP(if (lane % 3 == 1) out = __ballot_sync(0x92492492, lane > 9));
WARP(int all; out = __match_all_sync(kAll, 5, &all); out |= static_cast<u64>(all) << 32);
WARP(int all; out = __match_all_sync(kAll, lane / 31, &all); out |= static_cast<u64>(all) << 32);
WARP(if (lane > 10) out = __match_any_sync(0xfffff800, lane & 3));
WARP(if (lane >= 10) return; out = __ballot_sync(0x3ff, lane & 1));
WARP(if (lane >= 10) return; out = __ballot_sync(kAll, lane & 1));
WARP(if (lane >= 10) asm volatile("exit;"); out = __ballot_sync(0x3ff, lane & 1));
WARP(if (lane >= 10) asm volatile("exit;"); out = __ballot_sync(kAll, lane & 1));
WARP(if (lane >= 10) asm volatile("exit;"); out = __all_sync(kAll, 1));
WARP(if (lane >= 10) asm volatile("exit;"); out = __activemask());
WARP(if (lane >= 10) asm volatile("exit;"); out = __reduce_add_sync(0x3ff, x));
WARP(if (lane >= 10) asm volatile("exit;"); __syncthreads(); out = lane);
WARP(u32 m; asm("mov.u32 %0, %%lanemask_eq;" : "=r"(m)); out = m);
WARP(u32 m; asm("mov.u32 %0, %%lanemask_le;" : "=r"(m)); out = m);
WARP(u32 m; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m)); out = m);
WARP(u32 m; asm("mov.u32 %0, %%lanemask_ge;" : "=r"(m)); out = m);
WARP(u32 m; asm("mov.u32 %0, %%lanemask_gt;" : "=r"(m)); out = m);
WARP(u32 m; asm("mov.u32 %0, %%laneid;" : "=r"(m)); out = m);
WARP(int p; asm volatile("{ .reg .pred q; setp.ne.u32 q, %1, 0; vote.sync.uni.pred q, q, "
                         "0xffffffff; selp.s32 %0, 1, 0, q; }"
                         : "=r"(p)
                         : "r"(lane));
     out = p);
WARP(int p; asm volatile("{ .reg .pred q; setp.gt.u32 q, %1, 99; vote.sync.uni.pred q, q, "
                         "0xffffffff; selp.s32 %0, 1, 0, q; }"
                         : "=r"(p)
                         : "r"(lane));
     out = p);
WARP(const auto warp =
         cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
     const auto group = cooperative_groups::labeled_partition(warp, lane % 3);
     out = group.size() << 8 | group.thread_rank());
WARP(const auto warp =
         cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
     const auto group = cooperative_groups::binary_partition(warp, lane % 5 == 2);
     out = group.size() << 8 | group.thread_rank());
WARP(const auto warp =
         cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
     const auto group = cooperative_groups::tiled_partition<8>(warp);
     out = group.size() << 8 | group.thread_rank());
WARP(const auto group = cooperative_groups::coalesced_threads();
     out = group.size() << 8 | group.thread_rank());
WARP(if (lane % 4 == 1) {
  const auto group = cooperative_groups::coalesced_threads();
  out = group.size() << 8 | group.thread_rank();
});
WARP(if (lane % 4 == 1) {
  const auto group = cooperative_groups::coalesced_threads();
  out = group.shfl_down(x, 2);
});
WARP(if (lane % 4 == 1) {
  const auto group = cooperative_groups::coalesced_threads();
  out = group.ballot(lane > 8);
});

void run(const char* topic, bool with_exits) {
  for (const WarpItem& item : items()) {
    const bool exits = item.item.find("exit") != std::string::npos ||
                       item.item.find("return") != std::string::npos;
    if (exits != with_exits) continue;
    Buffer<u64> out(std::vector<u64>(32, 0xabababab));
    item.launch(out.device());
    const cudaError_t error = fidelity::settle();
    std::printf("%s %s ->", topic, item.item.c_str());
    if (error != cudaSuccess) {
      std::printf(" %s\n", fidelity::failure(error).c_str());
      continue;
    }
    for (const u64 word : out.fetch()) std::printf(" %llx", static_cast<unsigned long long>(word));
    std::printf("\n");
  }
}

void warp() { run("warp", false); }
// Apart, for whoever names lanes that have ended might wait for them for ever.
void warp_exited() { run("warp_exited", true); }
TOPIC("warp", warp);
TOPIC("warp_exited", warp_exited);

}  // namespace

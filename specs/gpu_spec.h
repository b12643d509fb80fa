#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

/// Reader of specs/gpus/*.toml: one GPU is one file, every number cited there.
namespace gpu_spec {

/// A specification that cannot be used: which file, which line or key, and what to do about it.
class SpecError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Everything that the time model, the rooflines and `cudaGetDeviceProperties` need to know of a
/// GPU.
struct GpuSpec {
  std::string id;    ///< file stem, as in `--device sim:a100`
  std::string name;  ///< as people say it, "A100 40 GB PCIe"
  int compute_capability_major = 0;
  int compute_capability_minor = 0;
  /// 80 for 8.0, as in "sm_80".
  int compute_capability() const {
    return compute_capability_major * 10 + compute_capability_minor;
  }

  int sm_count = 0;
  double clock_mhz = 0;            ///< boost clock
  double sustained_clock_mhz = 0;  ///< what the power limit leaves under load; 0: all of it
  double memory_clock_mhz = 0;

  /// Peak rates in FLOP/s by type: "fp32", "fp64", "fp16" (CUDA cores), and "tf32_tensor",
  /// "fp16_tensor", "bf16_tensor" (dense tensor rates). A type the GPU lacks is absent.
  std::map<std::string, double> peak_flops;

  double dram_bytes_per_second = 0;
  /// Shares of the DRAM bandwidth that streams reach, of what is read and of what is written; and
  /// how sharply the larger of bandwidth and latency prevails, less where accesses wait for each
  /// other long before the bandwidth is reached (docs/design/time-model.md, "DRAM").
  double dram_read_share = 0.87;
  double dram_write_share = 0.87;
  double dram_sharpness = 4;
  double l2_bytes_per_second = 0;
  /// Sectors that L2 takes in a cycle of which a store fills only a part (by what is missing); 0:
  /// as many as whole ones.
  double partial_sectors_per_cycle = 0;
  std::int64_t dram_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t l1_bytes_per_sm = 0;  ///< unified L1 and shared memory
  double pcie_bytes_per_second = 0;  ///< host to device, one way

  int fp32_lanes_per_sm = 0;
  int fp64_lanes_per_sm = 0;
  int int32_lanes_per_sm = 0;
  int sfu_lanes_per_sm = 0;
  int schedulers_per_sm = 0;
  double shared_bytes_per_cycle = 128;  ///< that shared memory hands to an SM's registers
  /// Share of the dense tensor rates that mma.sync reaches: two thirds where the whole needs
  /// instructions that PTX of capability 8.0 has not (wgmma). Libraries have them.
  double mma_share = 1;

  int max_threads_per_sm = 0;
  int max_warps_per_sm = 0;
  int max_blocks_per_sm = 0;
  int max_threads_per_block = 1024;
  int registers_per_sm = 0;
  int max_registers_per_thread = 255;
  int shared_bytes_per_sm = 0;
  int shared_bytes_per_block = 49152;       ///< without an opt-in
  int shared_bytes_per_block_optin = 0;     ///< with cudaFuncAttributeMaxDynamicSharedMemorySize
  int reserved_shared_bytes_per_block = 0;  ///< taken by the system from each block

  // Latencies in cycles, for the latency term of the time model.
  double alu_latency = 0;
  double shared_latency = 0;
  double l1_latency = 0;
  double l2_latency = 0;
  double dram_latency = 0;
  double conflict_latency = 1;  ///< that each bank conflict adds to a shared load
  double tensor_latency = 0;    ///< of an mma; 0: eight times that of arithmetic
  double atomic_latency = 0;    ///< of a global atomic that returns a value; 0: that of L2

  // Cycles of the SM's clock that L2 takes for atomics which have to wait for each other: a request
  // for one sector, or a warp's integers for one address; and each thread's floating-point addition
  // to an address where others wait. Of an RTX A6000, unless the file says otherwise.
  double atomic_cycles = 1.06;
  double float_atomic_cycles = 3.0;
  /// Of a warp's integers for one address; 0: atomic_cycles.
  double address_atomic_cycles = 0;
  /// Sectors that all of L2 takes atomics for in a cycle; 0: by its slices and atomic_cycles.
  double atomic_sectors_per_cycle = 0;

  double launch_overhead_us = 0;  ///< device-side time between dependent launches
  double cycles_per_block = 0;    ///< between the starts of two blocks on one SM, at least

  std::vector<std::string> sources;  ///< where the numbers come from

  /// The clock while an SM works, in MHz.
  double clock_under_load_mhz() const {
    return sustained_clock_mhz > 0 ? sustained_clock_mhz : clock_mhz;
  }
  /// How much longer an SM's work takes than at the boost clock, 1 or more.
  double slowdown_under_load() const {
    return sustained_clock_mhz > 0 ? clock_mhz / sustained_clock_mhz : 1;
  }
  /// FLOP per byte at which `type` (a key of peak_flops) meets the DRAM roof.
  double ridge_point(const std::string& type) const;
};

/// Reads one specification. @throws SpecError naming the file, the key and the remedy.
GpuSpec load(const std::filesystem::path& file);

/// Finds `id` (a100, or an alias that a file declares) in `directory`.
/// @throws SpecError listing the ids there are.
GpuSpec find(const std::filesystem::path& directory, const std::string& id);

/// Ids of all specifications in `directory`, sorted.
std::vector<std::string> list(const std::filesystem::path& directory);

}  // namespace gpu_spec

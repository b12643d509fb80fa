#pragma once

#include <string>
#include <vector>

#include "toolkit/cost.h"
#include "toolkit/profiler/profile.h"

/// A profile as text: where the time went, and how much of the GPU it used.
namespace rooflab {

/// The column that a table's rows are sorted by, largest first; names alphabetically.
enum class SortBy {
  name,
  self_cpu,
  cpu_total,
  cpu_average,
  self_cuda,
  cuda_total,
  cuda_average,
  cuda_memory,
  self_cuda_memory,
  calls,
};

/// All events of one name and kind together, as one row of a table. Times in microseconds.
struct TableRow {
  std::string name;
  double self_cpu_us = 0;    ///< the host's time, without ranges and calls inside
  double cpu_total_us = 0;   ///< with them
  double self_cuda_us = 0;   ///< of work on the device issued here, not by ranges inside
  double cuda_total_us = 0;  ///< with it
  std::int64_t self_cuda_memory = 0, cuda_memory = 0;  ///< bytes allocated less bytes freed
  std::int64_t calls = 0;
};

/// One row for each kind and name, sorted. The device's time stands in the rows of what ran on the
/// device, and once more in those of the ranges that issued it; calls of the runtime have none.
std::vector<TableRow> table_rows(const Profile& profile, SortBy order);

/// The rows as a table with the columns of torch.profiler: Name, Self CPU %, Self CPU, CPU total %,
/// CPU total, CPU time avg, Self CUDA, Self CUDA %, CUDA total, CUDA time avg, CPU Mem, Self CPU
/// Mem, CUDA Mem, Self CUDA Mem, # of Calls. Percentages are of all host and all device time. Host
/// memory is not recorded: "-".
/// @param rows how many at most, the first ones. @throws std::invalid_argument unless rows >= 1
std::string table(const Profile& profile, SortBy order = SortBy::cuda_total, int rows = 20);

/// What one range or kernel achieved against what it needs in theory, all its calls together.
struct Utilisation {
  std::string name;
  bool is_range = false;
  std::int64_t calls = 0;
  double time_us = 0;            ///< of its work on the device
  double theoretical_flops = 0;  ///< as the program stated them; 0 where it did not
  double theoretical_bytes = 0;
  double counted_flops = 0;  ///< by the simulated GPU; 0 on a GPU
  double counted_bytes = 0;

  /// Per second of device time: of the stated number where there is one, else of the counted one.
  double flops_per_second() const;
  double bytes_per_second() const;
};

/// One for each range that issued work, in order of its first start, each followed by the kernels
/// that were issued in it itself; at the end the kernels outside of ranges. A kernel has the stated
/// cost of its range when it is the only work in it. Iterations are left out.
std::vector<Utilisation> utilisations(const Profile& profile);

/// The same as a table: counted against theoretical FLOPs and bytes, and the share of the GPU's
/// peak and bandwidth that the theoretical numbers come to. For FLOPs that share is the model FLOPs
/// utilisation (Chowdhery et al., "PaLM", 2022, appendix B).
/// @throws std::invalid_argument unless both numbers of the GPU are positive
std::string utilisation_table(const Profile& profile, const Gpu& gpu);

}  // namespace rooflab

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// Programs of estimator.h as the trusted side counts them: by following each array through the
/// kernels, in fp64. Every way in which a known mistake departs from the rule is a parameter, whose
/// default is right.
namespace rooflab {

struct ProgramArray {
  std::string name;
  std::string role;  ///< "input", "intermediate", "output"
  double bytes = 0;
};

struct ProgramOperation {
  std::string name;
  double matmul_flops = 0, pointwise_flops = 0;
  std::vector<std::string> reads;
  std::string writes;
  int kernel = 0;
};

struct EstimatedProgram {
  std::vector<ProgramArray> arrays;
  std::vector<ProgramOperation> operations;
  int kernels() const;  ///< the highest number of a kernel and one, 0 without operations
  const ProgramArray* find(const std::string& name) const;  ///< null where there is none
};

/// Reads the lines of a program:
///
///     array <role> <name> <bytes>
///     operation <kernel> <name> <matmul FLOPs> <pointwise FLOPs> <written array> <read arrays …>
///
/// @throws std::invalid_argument naming the line, when it is none of these, when it names an array
///         that no line before has, or when kernels are not numbered 0, 1, 2, … in order
EstimatedProgram parse_program(const std::string& text);

enum class MlpFusion { none, pointwise, gate_and_up, whole };
struct MlpSizes {
  std::int64_t tokens, hidden, intermediate, bytes_per_element, activation_flops;
};
EstimatedProgram mlp_program(const MlpSizes& sizes, MlpFusion fusion);

struct KernelTotals {
  double matmul_flops = 0, pointwise_flops = 0, bytes = 0;
  std::map<std::string, double> read, written;  ///< what `bytes` is the sum of, by array
};

/// How a kernel's traffic is counted.
struct TrafficRule {
  bool each_use_reads = false;        ///< an array counts once for each operand that it is
  bool each_operation_reads = false;  ///< an array counts once for each operation that it goes into
  bool reads_own_arrays = false;      ///< what a kernel has made itself is read back
  bool writes_intermediates = false;  ///< also those that no later kernel reads
  bool skips_intermediates = false;   ///< also those that a later kernel reads: not written
  bool skips_reads_of_intermediates = false;
  bool skips_outputs = false;
  double l2_bytes = 0;
  bool l2_at_any_distance = false;  ///< what any kernel before has written may be in the L2
  bool l2_saves_writes = false;
  bool l2_ignores_size = false;
};
std::vector<KernelTotals> totals_of(const EstimatedProgram& program, const TrafficRule& rule);

struct EstimatedMachine {
  double tensor_flops_per_second, cuda_flops_per_second, bytes_per_second, l2_bytes,
      seconds_per_launch;
};

/// How times are put together.
struct TimeRule {
  TrafficRule traffic;
  bool adds_terms = false;         ///< a kernel takes the sum of its terms
  bool one_longest_term = false;   ///< the longest of the program's terms, not kernel by kernel
  bool adds_launches = false;      ///< every launch is idle time
  bool first_launch_free = false;  ///< launch k is issued at k * seconds_per_launch
  bool waits_for_each = false;     ///< the host issues a launch when the kernel before has ended
  bool tensor_on_cuda_cores = false;
};

struct EstimatedTimes {
  double tensor = 0, cuda = 0, memory = 0, busy = 0, idle = 0;
  double seconds() const { return busy + idle; }
  std::string bound() const;  ///< as the adapter names it
};
EstimatedTimes times_of(const EstimatedProgram& program, const EstimatedMachine& machine,
                        const TimeRule& rule = {});

}  // namespace rooflab

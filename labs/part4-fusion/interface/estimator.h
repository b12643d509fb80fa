#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// How long does a list of operations take, before any kernel of it is written?
//
// Units throughout: FLOPs, bytes, seconds, FLOP/s and B/s, never their multiples. A prefix on a
// data sheet is a power of ten.

/// A GPU, and the host that feeds it.
struct Machine {
  double tensor_flops_per_second = 0;  ///< matrix products, dense, on tensor cores
  double cuda_flops_per_second = 0;    ///< all other arithmetic, on CUDA cores
  double bytes_per_second = 0;         ///< DRAM bandwidth
  double l2_bytes = 0;                 ///< size of the L2 cache; 0: count as if there were none
  double seconds_per_launch = 0;       ///< the host needs to issue one kernel; 0: none
};

// --- Programs ------------------------------------------------------------------------------------

enum class ArrayRole { input, intermediate, output };

struct Array {
  std::string name;
  ArrayRole role = ArrayRole::input;  ///< nobody needs an intermediate once the program has ended
  double bytes = 0;
};

struct Operation {
  std::string name;
  double matmul_flops = 0;         ///< FLOPs of a matrix product
  double pointwise_flops = 0;      ///< all other FLOPs
  std::vector<std::size_t> reads;  ///< places in Program::arrays; an array may occur twice
  std::size_t writes = 0;          ///< place in Program::arrays
  int kernel = 0;                  ///< the kernel that carries it out
};

/// Operations in the order in which they run. Those with the same `kernel` are fused into one
/// kernel and are neighbours in the list; kernels are numbered 0, 1, 2, … in the order in which
/// they run. An array is written by at most one operation, before any other reads it; no operation
/// writes an input.
struct Program {
  std::vector<Array> arrays;
  std::vector<Operation> operations;
};

/// out = (activation(x gate) * (x up)) down, a gated MLP with
///
///   x: (tokens, hidden)   gate, up: (hidden, intermediate)   down: (intermediate, hidden)
struct GatedMlp {
  std::int64_t tokens = 0;
  std::int64_t hidden = 0;
  std::int64_t intermediate = 0;
  std::int64_t bytes_per_element = 2;  ///< of every array
  std::int64_t activation_flops = 1;   ///< of one element
};

/// Which operations of a gated MLP share a kernel.
enum class Fusion {
  none,         ///< five kernels
  pointwise,    ///< activation and multiplication share a kernel, each product has one
  gate_and_up,  ///< everything before the last product is one kernel, `down` is another
  whole,        ///< one kernel
};

/// The gated MLP as a program of five operations: the matrix product with gate, the one with up,
/// the activation, the multiplication (one FLOP for each element), the matrix product with down. It
/// has the inputs x, gate, up and down, one output, and the intermediates between the operations.
Program gated_mlp(const GatedMlp& mlp, Fusion fusion);

// --- Estimates -----------------------------------------------------------------------------------

/// What one kernel does.
struct KernelWork {
  double matmul_flops = 0;
  double pointwise_flops = 0;
  double bytes = 0;  ///< read from and written to DRAM
};

/// The work of each kernel of a program, in order. A kernel reads, once, every array that its
/// operations need and that it does not make itself. It writes every array that it makes, except
/// for intermediates that no later kernel reads: those never leave the chip.
///
/// With `l2_bytes` > 0 a kernel need not read from DRAM what the kernel right before it has
/// written, if that array has at most `l2_bytes`: it is still in the L2. The write counts all the
/// same.
std::vector<KernelWork> kernels_of(const Program& program, double l2_bytes);

/// What takes a program's time.
enum class Term { tensor_cores, cuda_cores, memory, launches };

struct Estimate {
  double tensor_seconds = 0;  ///< matrix products of all kernels at the peak of the tensor cores
  double cuda_seconds = 0;    ///< other arithmetic of all kernels at the peak of the CUDA cores
  double memory_seconds = 0;  ///< bytes of all kernels at the DRAM bandwidth
  double busy_seconds = 0;    ///< while kernels run: below
  double idle_seconds = 0;    ///< while the GPU waits for the next launch: below
  double seconds = 0;         ///< busy and idle
  Term bound = Term::memory;  ///< the longest of tensor, CUDA, memory and idle seconds; of equal
                              ///< ones, the first in the order of Term
};

/// Run time of a program. Within one kernel, tensor cores, CUDA cores and memory work at the same
/// time: it takes as long as the longest of the three. Kernels run one after the other.
///
/// The host issues one launch after the other, without waiting for the GPU: launch k (from 0) is
/// issued at (k + 1) * seconds_per_launch. A kernel starts when its launch is issued and the kernel
/// before it has ended. The program begins with the host's first launch and ends with the last
/// kernel; it is idle while no kernel runs.
Estimate estimate(const Program& program, const Machine& machine);

// --- Measured against estimated ------------------------------------------------------------------

enum class Finding {
  faster_than_possible,  ///< measured < busy: the model misses something, such as data in the L2
  as_estimated,          ///< at most a tenth of the measured time is not busy_seconds
  launches,              ///< else: the idle share is at least the rest
  inefficiency,          ///< else: kernels are slower than their roofs
};

/// Where a measured time went, in shares of it.
struct Explanation {
  double slowdown = 0;        ///< measured over estimated seconds
  double roofline_share = 0;  ///< busy_seconds
  double idle_share = 0;      ///< idle_seconds, but no more than the measured time leaves for it
  double rest_share = 0;      ///< what is left to 1: kernels that do not reach their roofs
  double efficiency = 0;      ///< busy_seconds over the measured time without the idle share
  Finding finding = Finding::as_estimated;
};

/// @param measured_seconds greater than 0. When it is less than busy_seconds, roofline_share is
/// above 1, nothing is idle, and the rest is negative.
Explanation explain(const Estimate& estimate, double measured_seconds);

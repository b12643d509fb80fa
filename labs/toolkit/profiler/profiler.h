#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "toolkit/cost.h"
#include "toolkit/profiler/profile.h"

/// Records what a program does on the GPU: kernels, copies, memsets, calls of the CUDA runtime, and
/// parts of the program that it names itself.
///
/// @code
/// const Profile seen = profile([&] {
///   const Range range("residual", {.flops = count, .bytes = 12 * count});
///   add(x, y, count, stream);  // x += y: two floats read and one written
/// });
/// std::cout << table(seen, SortBy::cuda_total, 10);   // toolkit/profiler/table.h
/// std::cout << utilisation_table(seen, gpu);          // likewise; gpu is of toolkit/cost.h
/// std::ofstream("trace.json") << chrome_trace(seen);  // toolkit/profiler/chrome_trace.h
/// @endcode
///
/// Records come from CUPTI (libcupti), which is loaded when a profiler is made. On the
/// simulated GPU that is the simulator's own: times are modelled, and kernels carry counted FLOPs
/// and DRAM bytes. On a GPU nothing is counted.
namespace rooflab {

/// Which iterations count. The first ones wait, so that loading and compiling is over; then some
/// are recorded and thrown away, for the first records cost time; then those come that are kept.
struct Schedule {
  int wait = 1;
  int warmup = 3;
  int active = 6;
  int iterations() const { return wait + warmup + active; }
};

/// Records a loop whose end calls step(). One at a time in a process.
///
/// Work is waited for where recording begins and where it ends, and nowhere else.
class Profiler {
 public:
  /// @throws std::invalid_argument unless wait >= 0, warmup >= 0 and active >= 1;
  /// std::runtime_error that says what to do when there is no CUPTI; std::logic_error while another
  /// profiler lives; CudaError
  explicit Profiler(const Schedule& schedule = {});
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// Ends one iteration. Ranges end before it. @throws as the constructor
  void step();

  /// What the active iterations did. Each of them is a range of its own, "iteration 4".
  /// @throws std::logic_error when no active iteration ended; CudaError
  Profile finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Names what the program does while it is in scope, and may say what that needs in theory. Ranges
/// nest. Costs nothing while nobody profiles.
class Range {
 public:
  explicit Range(std::string_view name, const Cost& cost = {});
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  std::uint64_t number_ = 0;
};

/// Runs `iteration` as often as the schedule says and returns what its active runs did.
/// @throws as Profiler, and what `iteration` throws
Profile profile(const std::function<void()>& iteration, const Schedule& schedule = {});

}  // namespace rooflab

#include "simgpu/model/instruction_times.h"

#include <algorithm>
#include <utility>

#include "simgpu/arith/elementary.h"
#include "simgpu/model/instruction_demands.h"
#include "simgpu/model/warp_path.h"

namespace simgpu {
namespace {

using model::Demands;

/// How sharply the larger of two throughput terms prevails, where they are nearly equal: who mends
/// one of them meets the other at once, so both are told.
constexpr double kSharpness = 8;

/// What is due to the throughput terms, by term.
LimiterTimes by_term(const LimiterTimes& terms, double due) {
  const double largest = model::largest_of(terms);
  LimiterTimes shares;
  double sum = 0;
  for (const auto& [term, time] : terms) {
    if (term == Limiter::latency || time <= 0) continue;
    shares[term] = arith::power_f64(time / largest, kSharpness);
    sum += shares[term];
  }
  for (auto& [term, share] : shares) share *= due / sum;
  return shares;
}

/// The parts of each instruction, one term after the other.
class Parts {
 public:
  explicit Parts(std::size_t instructions) : times_(instructions), largest_(instructions) {}

  /// @returns whether anything was known of who has it
  bool share_out(Limiter term, double due, const Demands& demands) {
    const double sum = model::sum_of(demands);
    if (due <= 0) return true;
    if (sum <= 0) return false;
    for (std::size_t i = 0; i < demands.size(); ++i) {
      const double part = due * demands[i] / sum;
      times_[i].time_us += part;
      if (part > largest_[i]) {
        largest_[i] = part;
        times_[i].limiter = term;
      }
    }
    return true;
  }

  std::vector<InstructionTime> take() { return std::move(times_); }

 private:
  std::vector<InstructionTime> times_;
  std::vector<double> largest_;  ///< of the terms that make an instruction's time
};

}  // namespace

std::vector<InstructionTime> instruction_times(const model::Work& work,
                                               const PredictedTime& predicted, double busy_us,
                                               const AccessCountsByPc& accesses) {
  const model::BusyTime& busy = predicted.busy;
  Parts parts(work.program.size());
  double unknown = 0;
  double throughput = busy.throughput;
  if (!parts.share_out(Limiter::latency, busy.meetings, model::barrier_waits(work))) {
    throughput += busy.meetings;
  }
  LimiterTimes due = by_term(predicted.time.terms, throughput);
  due[Limiter::dram] += busy.dram;
  for (const auto& [term, time] : due) {
    if (!parts.share_out(term, time, model::demands_of(term, work, accesses))) unknown += time;
  }
  if (!parts.share_out(Limiter::latency, busy.latency,
                       model::waited_for(work, predicted.waits_for_longest_block))) {
    unknown += busy.latency;
  }
  parts.share_out(Limiter::issue, unknown, model::demands_of(Limiter::issue, work, accesses));
  std::vector<InstructionTime> times = parts.take();
  const double all = busy.total();
  for (InstructionTime& time : times) time.time_us *= all > 0 ? busy_us / all : 0;
  return times;
}

}  // namespace simgpu

#include "simgpu/device/launch_time.h"

#include <utility>

#include "simgpu/machine_work/machine_work.h"

namespace simgpu {
namespace {

double busy_us(const TimeBreakdown& time) { return time.total_us - time.launch_us; }

/// PTX lacks most of what computes indices. Of nine in ten kernels that take 5 us or more, machine
/// code took up to so many times what their PTX does (docs/design/machine-code.md). Where nobody
/// knows how often machine code is executed, a launch takes as much, so that nobody gains by that.
constexpr double kUnalignedOverPtx = 1.5;

/// Replaces what the PTX has told by what its machine code does.
void tell_by_machine_code(const LaunchTimes::Launch& launch, const sass::Alignment& alignment,
                          const model::Work& by_ptx, bool wants_costs, LaunchTime& told) {
  const std::vector<InstructionInfo>& ptx = launch.kernel.info->instructions;
  MachineWork machine = machine_work(*launch.kernel.machine_code, alignment,
                                     {.program = ptx,
                                      .executed = launch.result.executed,
                                      .loads = launch.result.loads,
                                      .accesses = launch.result.accesses,
                                      .first_accesses = launch.result.first_accesses,
                                      .counters = launch.counters});
  ExecutedProgram code{machine.program, machine.executed, launch.result.balance, {}, machine.loads};
  // By instruction of the PTX.
  code.balance.schedulers = nullptr;
  code.balance.ways = nullptr;
  model::Work work = model::gather(machine.counters, launch.shape, code, launch.gpu);
  work.control = machine.control;
  work.accesses = machine.accesses;
  work.by_ptx = &by_ptx;
  const double before = busy_us(told.predicted.time);
  told.predicted = predict(work);
  const double now = busy_us(told.predicted.time);
  if (before > 0) told.device_us *= now / before;
  if (wants_costs) {
    told.costs = costs_by_ptx(instruction_costs(work, told.predicted, now, machine.accesses),
                              machine.ptx_of, ptx.size());
  }
  told.counters = std::move(machine.counters);
}

}  // namespace

bool LaunchTimes::Last::is_like(const Launch& launch) const {
  const LaunchResult& result = launch.result;
  return gpu == &launch.gpu && shape == launch.shape && counters == launch.counters &&
         executed == result.executed && loads == result.loads && accesses == result.accesses &&
         balance == result.balance;
}

LaunchTime LaunchTimes::of(const Launch& launch) {
  if (!options_.predicts_times) {
    LaunchTime untold;
    untold.predicted.time.total_us = 1;
    untold.counters = launch.counters;
    return untold;
  }
  const LaunchResult& result = launch.result;
  // What is bounded, and what has no machine code, is told in no time.
  if (launch.kernel.machine_code == nullptr || result.at_least) return tell(launch);
  Last& last = last_[launch.kernel.machine_code];
  if (!last.is_like(launch)) {
    last = {.gpu = &launch.gpu,
            .shape = launch.shape,
            .counters = launch.counters,
            .executed = result.executed,
            .loads = result.loads,
            .accesses = result.accesses,
            .balance = result.balance,
            .time = tell(launch)};
  }
  return last.time;
}

LaunchTime LaunchTimes::tell(const Launch& launch) {
  const LaunchResult& result = launch.result;
  const ExecutedProgram program{launch.kernel.info->instructions, result.executed, result.balance,
                                launch.kernel.spills, result.loads};
  const model::Work work = model::gather(launch.counters, launch.shape, program, launch.gpu);
  LaunchTime told{.predicted = predict(work),
                  .device_us = device_time_us(launch.counters, launch.shape, program, launch.gpu),
                  .counters = launch.counters,
                  .machine_code = {},
                  .costs = {}};
  const sass::Alignment* by = nullptr;
  if (options_.reads_machine_code()) {
    const MachineCodeRecords::Told& code = machine_code_.of(launch.kernel, result);
    told.machine_code = code.record;
    const bool is_known = code.record.aligned && !result.at_least;
    if (is_known && options_.time_from == TimeFrom::machine_code) by = &code.alignment;
    const bool is_unknown = launch.kernel.machine_code != nullptr && !code.record.aligned &&
                            !result.at_least && options_.time_from == TimeFrom::machine_code;
    if (is_unknown) {
      told.predicted = slowed_down(std::move(told.predicted), kUnalignedOverPtx);
      told.device_us *= kUnalignedOverPtx;
    }
  }
  if (by != nullptr) {
    tell_by_machine_code(launch, *by, work, options_.lines, told);
  } else if (options_.lines) {
    told.costs =
        instruction_costs(work, told.predicted, busy_us(told.predicted.time), result.accesses);
  }
  return told;
}

}  // namespace simgpu

#pragma once

#include <cstdint>

#include "simgpu/checkers/access_listener.h"
#include "simgpu/isa/lowered.h"

namespace simgpu {

struct LaunchContext;
struct LaunchResult;
struct Warp;

/// Sees every instruction of a launch, before and behind it, in the order in which the simulator
/// executes them. A launch with an observer runs whole, on one worker, and much more slowly.
///
/// What the lanes have lies in the warp's registers (LoweredKernel::registers says where), what the
/// block has in Warp::block. Observers look and change nothing: results, findings and counters are
/// the same with and without them.
class StepObserver {
 public:
  virtual ~StepObserver() = default;

  virtual void begin_launch(const LaunchContext& /*launch*/) {}
  virtual void begin_block(std::uint64_t /*block*/) {}
  virtual void end_launch(const LaunchResult& /*result*/) {}
  /// Who is shown what instructions access, between before() and after(), and what the checkers
  /// find; nullptr: nobody. Without checkers nobody is.
  virtual AccessListener* access_listener() { return nullptr; }

  /// @param lanes that execute `in`: of a guarded instruction those whose guard holds, maybe none.
  /// An instruction that has to wait for other lanes, or ends the launch, has no after(); one that
  /// waited is begun again.
  virtual void before(const Lowered& in, const Warp& warp, std::uint32_t lanes) = 0;
  virtual void after(const Lowered& in, const Warp& warp, std::uint32_t lanes) = 0;
};

}  // namespace simgpu

#pragma once

#include <cstdint>
#include <memory>

#include "simgpu/checkers/access_listener.h"
#include "simgpu/exec/step_observer.h"
#include "simgpu/replay/recording.h"

namespace simgpu::replay {

/// Most steps of a recording.
inline constexpr std::size_t kMostStepsOfRace = 50;
inline constexpr std::size_t kMostSteps = 200;

/// Records what is wanted of the launches that it observes, with checkers on. What it holds is
/// bounded: of each warp that it watches the last few thousand steps.
class Recorder final : public StepObserver, private AccessListener {
 public:
  explicit Recorder(const Wanted& wanted);
  ~Recorder() override;

  void begin_launch(const LaunchContext& launch) override;
  void begin_block(std::uint64_t block) override;
  void before(const Lowered& in, const Warp& warp, std::uint32_t lanes) override;
  void after(const Lowered& in, const Warp& warp, std::uint32_t lanes) override;
  void end_launch(const LaunchResult& result) override;
  AccessListener* access_listener() override { return this; }

  /// What came of it so far. Kernels have their mangled names.
  const Recorded& result() const;

 private:
  void accessed(MemorySpace space, const WarpAccess& access) override;
  void copy_arrived(const WarpAccess& copy) override;
  void found(const RawFinding& finding) override;
  void passed_barrier() override;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace simgpu::replay

#include "grader/sandbox/sandbox.h"

#include "grader/sandbox/layers.h"
#include "grader/sandbox/running.h"

namespace rooflab {

const char* name_of(LimitHit limit) {
  switch (limit) {
    case LimitHit::none:
      return "none";
    case LimitHit::time:
      return "time";
    case LimitHit::memory:
      return "memory";
    case LimitHit::output:
      return "output";
    case LimitHit::disk:
      return "disk";
    case LimitHit::processes:
      return "processes";
  }
  return "none";
}

struct SandboxedProcess::State {
  Running running;
};

SandboxedProcess::SandboxedProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}
SandboxedProcess::~SandboxedProcess() = default;
SandboxedProcess::SandboxedProcess(SandboxedProcess&&) noexcept = default;
SandboxedProcess& SandboxedProcess::operator=(SandboxedProcess&&) noexcept = default;

SandboxedProcess SandboxedProcess::start(const SandboxRequest& request) {
  return SandboxedProcess(std::unique_ptr<State>(new State{Running(request, layers_for(request))}));
}

bool SandboxedProcess::finished(double seconds) {
  return state_->running.finished(std::chrono::duration<double>(seconds));
}

void SandboxedProcess::kill() { state_->running.kill(); }

bool SandboxedProcess::stop() { return state_->running.halt().stop(std::chrono::seconds(1)); }

bool SandboxedProcess::is_still() const { return state_->running.halt().is_still(); }

void SandboxedProcess::go_on() { state_->running.halt().go_on(); }

SandboxOutcome SandboxedProcess::wait() { return state_->running.wait(); }

SandboxOutcome run_sandboxed(const SandboxRequest& request) {
  return Running(request, layers_for(request)).wait();
}

}  // namespace rooflab

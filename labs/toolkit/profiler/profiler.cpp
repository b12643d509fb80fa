#include "labs/toolkit/profiler/profiler.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "labs/toolkit/profiler/recorder.h"

namespace rooflab {

class Profiler::State {
 public:
  explicit State(const Schedule& schedule) : schedule_(schedule) { enter(0); }

  void step() {
    end_iteration();
    enter(++done_);
  }

  Profile finish() {
    const int kept = std::min(done_, schedule_.iterations()) - first_active();
    if (kept < 1) {
      throw std::logic_error("nothing was recorded: " + std::to_string(done_) +
                             " iterations ended, and those before iteration " +
                             std::to_string(first_active() + 1) +
                             " wait or warm up; call step() at the end of each");
    }
    end_iteration();
    if (!stopped_) stop();
    Profile profile = recorder_.take();
    profile.iterations = kept;
    return profile;
  }

 private:
  int first_active() const { return schedule_.wait + schedule_.warmup; }

  /// What begins with an iteration.
  void enter(int iteration) {
    if (iteration == schedule_.wait) recorder_.start();
    if (iteration == first_active()) recorder_.forget();
    if (iteration == schedule_.iterations()) stop();
    if (iteration >= first_active() && iteration < schedule_.iterations()) {
      range_ = recorder_.begin_range("iteration " + std::to_string(iteration), 0, 0);
    }
  }
  void end_iteration() {
    recorder_.end_range(range_);
    range_ = 0;
  }
  void stop() {
    stopped_ = true;
    recorder_.stop();
  }

  Schedule schedule_;
  Recorder recorder_;
  int done_ = 0;  ///< iterations
  bool stopped_ = false;
  std::uint64_t range_ = 0;  ///< of the iteration under way, 0 where it is not kept
};

Profiler::Profiler(const Schedule& schedule) {
  if (schedule.wait < 0 || schedule.warmup < 0 || schedule.active < 1) {
    throw std::invalid_argument(
        "a schedule of a Profiler needs wait >= 0, warmup >= 0 and active >= 1");
  }
  state_ = std::make_unique<State>(schedule);
}

Profiler::~Profiler() = default;

void Profiler::step() { state_->step(); }

Profile Profiler::finish() { return state_->finish(); }

Range::Range(std::string_view name, const Cost& cost) {
  Recorder* recorder = Recorder::current();
  if (recorder == nullptr) return;
  number_ =
      recorder->begin_range(name, static_cast<double>(cost.flops), static_cast<double>(cost.bytes));
}

Range::~Range() {
  if (Recorder* recorder = Recorder::current(); recorder != nullptr && number_ != 0) {
    recorder->end_range(number_);
  }
}

Profile profile(const std::function<void()>& iteration, const Schedule& schedule) {
  Profiler profiler(schedule);
  for (int i = 0; i < schedule.iterations(); ++i) {
    iteration();
    profiler.step();
  }
  return profiler.finish();
}

}  // namespace rooflab

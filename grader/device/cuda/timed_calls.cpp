#include "grader/device/cuda/timed_calls.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "grader/spec/median.h"

namespace rooflab {
namespace {

constexpr int kIdleCalls = 10;
constexpr int kWarmUpCalls = 2;
/// For as long the GPU is kept busy before it is timed: clocks take some tenths of a second to
/// rise.
constexpr std::chrono::milliseconds kWarmUpTime{300};
/// And until clocks have been the same for so long, but no longer than this.
constexpr std::chrono::milliseconds kSteadyClocks{200};
constexpr std::chrono::seconds kLongestWarmUp{3};
/// One that is no slower than the samples ends them: the others are for what disturbs a single
/// call.
constexpr int kMostFreshCalls = 3;

double microseconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

/// One that records its two events, and does nothing between them.
Call idle_call() {
  Call idle;
  idle.measured = true;
  return idle;
}

[[noreturn]] void throw_throttled(std::size_t calls) {
  throw DeviceError("the GPU was throttled, by heat or a fault, during each of " +
                    std::to_string(calls) + " timed calls; let it cool down");
}

}  // namespace

bool came_back(const std::optional<Reply>& reply) {
  return reply && reply->status == Reply::Status::returned && reply->cuda_error.empty();
}

TimedCalls::TimedCalls(GuestProcess& guest, GuestProcess& bystander, const Placement& placement,
                       const RunRequest& request, const ClockWatch& watch)
    : guest_(guest),
      bystander_(bystander),
      placement_(placement),
      request_(request),
      watch_(watch),
      call_(placement.call(request)),
      begin_(Clock::now()),
      budget_(request.time_limit / 2),
      users_(watch),
      random_(std::random_device{}()) {
  // Made before the guest's calls: what it takes should not be taken out of their time.
  if (request.fresh) first_fresh_ = request.fresh(0);
}

/// A call of the bystander, prepared and taken as a timed one is: it goes on when its call comes,
/// and a GPU that has just worked for us changes to its context first, and back to ours.
TimedCalls::Idle TimedCalls::make_idle() {
  StoppedGuest stopped(bystander_);
  Idle idle{.clocked = {}, .prepared_us = placement_.prepare(*request_.problem)};
  const auto start = Clock::now();
  stopped.let_go();
  const std::optional<Reply> reply = bystander_.call(idle_call());
  placement_.take_outputs();
  idle.clocked.wall_us = microseconds(Clock::now() - start);
  if (!came_back(reply)) {
    throw DeviceError("a process that does nothing cannot use the GPU any more");
  }
  idle.clocked.event_us = reply->elapsed_us;
  return idle;
}

void TimedCalls::measure_round_trip() {
  bystander_.prepare(idle_call());
  std::vector<ClockedCall> calls;
  std::vector<double> prepared_us;
  for (int count = 0; count < kIdleCalls && Clock::now() - begin_ < budget_ / 8; ++count) {
    const Idle idle = make_idle();
    calls.push_back(idle.clocked);
    prepared_us.push_back(idle.prepared_us);
  }
  round_trip_us_ = beside_events_us(calls);
  if (!prepared_us.empty()) idle_us_ = median_of(std::move(prepared_us));
}

TimedCalls::Timed TimedCalls::make(const Problem& contents, RunOutcome& outcome) {
  Timed timed;
  // What it could see of the inputs, it could work on before the clock runs.
  StoppedGuest stopped(guest_);
  // Before the call: preparing for it would undo what the call leaves in its tensors.
  timed.clocked.round_trip_us =
      bounded_round_trip_us(beside_events_us({make_idle().clocked}), round_trip_us_);
  timed.prepared_us = placement_.prepare(contents);
  // Right before and right after, not during: asking takes the driver's lock, and would be timed.
  Sample before;
  watch_.look(before);
  timed.was_still = stopped.is_still();
  const auto start = Clock::now();
  stopped.let_go();
  timed.reply = guest_.call(call_);
  if (!came_back(timed.reply)) {
    return timed;
  }
  // Within our clock: what the GPU still did for the guest, we have waited for.
  placement_.take_outputs();
  timed.clocked.wall_us = microseconds(Clock::now() - start);
  if (placement_.has_unwritten(random_)) {
    ++outcome.sampling->early;
  }
  watch_.look(timed.sample);
  timed.sample.throttled_by = reasons_around(before.throttled_by, timed.sample.throttled_by);
  timed.clocked.event_us = timed.reply->elapsed_us;
  return timed;
}

std::optional<Reply> TimedCalls::warm_up(RunOutcome& outcome) {
  std::optional<Reply> reply;
  std::vector<std::pair<Clock::time_point, double>> clocks_mhz;  // of the last calls
  const auto is_warm = [&](int count) {
    const auto spent = Clock::now() - begin_;
    if (count < kWarmUpCalls || spent < kWarmUpTime) return false;
    std::vector<double> lately_mhz;
    for (const auto& [when, mhz] : clocks_mhz) lately_mhz.push_back(mhz);
    return clocks_agree(lately_mhz) || spent > kLongestWarmUp;
  };
  for (int count = 0; !is_warm(count); ++count) {
    const Timed timed = make(*request_.problem, outcome);
    reply = timed.reply;
    // A call that takes seconds needs no second one to warm up.
    if (!came_back(reply) || Clock::now() - begin_ > budget_ / 4) break;
    clocks_mhz.emplace_back(Clock::now(), static_cast<double>(timed.sample.sm_mhz));
    std::erase_if(clocks_mhz, [now = Clock::now()](const auto& clock) {
      return now - clock.first > kSteadyClocks;
    });
  }
  return reply;
}

TakenSample TimedCalls::taken(const Timed& timed) const {
  return {.clocked = timed.clocked,
          .sm_mhz = static_cast<double>(timed.sample.sm_mhz),
          .at = Clock::now(),
          .busy_before = was_busy(timed.prepared_us, idle_us_),
          .not_still = !timed.was_still};
}

std::optional<Reply> TimedCalls::sample(RunOutcome& outcome) {
  const RepeatRule rule{.budget = budget_};
  const std::size_t drawn = random_() % rule.least;
  SampleSet samples(rule);
  std::optional<Reply> reply;
  outcome.sampling->other_users = users_.look().others;
  users_.others_computed();
  for (std::size_t count = 0; !samples.enough(Clock::now() - begin_); ++count) {
    const bool all_throttled = samples.empty() && count > 0;
    if (all_throttled && Clock::now() - begin_ > 1.5 * budget_) throw_throttled(count);
    Timed timed = make(*request_.problem, outcome);
    // A guest whose time ran out while none of its calls counted is not to blame.
    if (!timed.reply && all_throttled) throw_throttled(count);
    reply = timed.reply;
    if (!came_back(reply)) {
      return reply;
    }
    if (count == drawn) {
      outcome.drawn_outputs = placement_.read_taken();
    }
    if (is_throttled(timed.sample)) {
      ++outcome.sampling->dropped;
      continue;
    }
    samples.add(taken(timed));
    if (users_.others_computed()) samples.mark_beside_others(Clock::now());
  }
  outcome.outputs = placement_.read_taken();
  tell(samples, outcome);
  return reply;
}

void TimedCalls::tell(const SampleSet& samples, RunOutcome& outcome) {
  std::vector<ClockedCall> calls;
  std::vector<double> clocks_mhz;
  for (const TakenSample& sample : samples.counted()) {
    calls.push_back(sample.clocked);
    outcome.samples_us.push_back(sample.clocked.event_us);
    if (sample.sm_mhz > 0) clocks_mhz.push_back(sample.sm_mhz);
  }
  SamplingRecord& record = *outcome.sampling;
  if (contradicts(calls)) {
    record.contradicted = static_cast<int>(calls.size());
    outcome.samples_us = by_our_clock_us(calls);
  }
  record.clocks_watched = watch_.works();
  if (!clocks_mhz.empty()) record.sm_mhz = median_of(std::move(clocks_mhz));
  samples.tell(record);
  GpuUsers::Seen seen = users_.look();
  record.users_known = seen.all;
  for (GpuUser& user : seen.others) {
    const bool is_known =
        std::ranges::find(record.other_users, user.pid, &GpuUser::pid) != record.other_users.end();
    if (!is_known) record.other_users.push_back(std::move(user));
  }
}

std::optional<Reply> TimedCalls::with_fresh_inputs(RunOutcome& outcome) {
  std::optional<Reply> reply;
  bool all_slower = true;
  for (int index = 0; index < kMostFreshCalls; ++index) {
    FreshCall fresh{.problem = index == 0 ? std::move(*first_fresh_) : request_.fresh(index),
                    .outputs = {}};
    // Drawing took our processor's time, and the GPU rested: a known call wakes both.
    if (Timed known = make(*request_.problem, outcome); !came_back(known.reply)) {
      return std::move(known.reply);
    }
    Timed timed = make(fresh.problem, outcome);
    reply = std::move(timed.reply);
    if (!came_back(reply)) {
      return reply;
    }
    fresh.outputs = placement_.read_taken();
    const bool throttled = is_throttled(timed.sample);
    const bool ours = contradicts({timed.clocked});
    const double time_us = ours ? by_our_clock_us({timed.clocked}).front() : timed.clocked.event_us;
    if (!throttled) fresh.time_us = time_us;
    outcome.fresh.push_back(std::move(fresh));
    const bool slower = takes_longer(time_us, outcome.samples_us);
    all_slower = all_slower && slower && !throttled;
    if (!slower) break;
  }
  outcome.sampling->slower_on_fresh = all_slower;
  return reply;
}

std::optional<Reply> TimedCalls::run(RunOutcome& outcome) {
  outcome.sampling.emplace();
  measure_round_trip();
  begin_ = Clock::now();
  std::optional<Reply> reply = warm_up(outcome);
  if (came_back(reply)) reply = sample(outcome);
  if (came_back(reply) && first_fresh_) reply = with_fresh_inputs(outcome);
  return reply;
}

}  // namespace rooflab

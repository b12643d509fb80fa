#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>

#include "grader/contract/oracle.h"
#include "labs/oracle_support/evidence.h"
#include "labs/oracle_support/parameters.h"
#include "labs/part1-metrics/oracle/latency_spread.h"

namespace rooflab {
namespace {

/// The adapter's own kernel, guest/benchmark.cu.
constexpr std::string_view kLoadKernel = "rooflab_benchmark_load";

/// What the device saw of a latency measurement, in milliseconds.
struct LatencyTruth {
  double lowest = 0;       ///< mean over the timed calls of their kernels' time
  double busy = 0;         ///< the same of all timed calls together
  double to_last = 0;      ///< from the first timed launch to the first one of the last call
  double last = 0;         ///< of the last timed call, from its first launch to its end
  double highest = 0;      ///< the same with every gap between kernels, and with the cost of events
  double all_calls = 0;    ///< from the first launch to the end of the last, warm-up calls included
  double timed_calls = 0;  ///< from the first timed launch to the end of the last
  CallTimes calls;         ///< the timed ones, one by one
};

/// Judges a stopwatch by the device's own clock, which the student's code cannot touch.
class BenchmarkOracle : public Oracle {
 public:
  std::vector<Complaint> judge(const Problem& problem,
                               const CallEvidence& evidence) const override {
    const auto found = problem.parameters.find("function");
    const bool memory = found != problem.parameters.end() &&
                        found->second == Value{std::string("benchmark_memory")};
    return memory ? judge_memory(problem.parameters, evidence)
                  : judge_latency(problem.parameters, evidence);
  }

 private:
  static std::vector<Complaint> judge_latency(const Values& parameters,
                                              const CallEvidence& evidence) {
    const std::int64_t n_warmup = integer(parameters, "n_warmup", 0);
    const std::int64_t n_repeat = integer(parameters, "n_repeat");
    const std::int64_t launches_per_call = integer(parameters, "launches_per_call");
    const std::int64_t calls = n_warmup + n_repeat;
    if (!evidence.keeps_records) return judge_by_reference(evidence, n_warmup, n_repeat);
    const std::vector<simgpu::KernelRecord> loads = load_launches(parameters, evidence.activity);

    if (const auto seen = static_cast<std::int64_t>(loads.size());
        seen != calls * launches_per_call) {
      return {wrong_call_count(seen / launches_per_call, n_warmup, n_repeat)};
    }
    if (!uses_events(evidence.activity, n_repeat)) return {no_events()};
    const LatencyTruth truth = truth_of(loads, n_warmup * launches_per_call, n_repeat);
    const double got = result(evidence, "mean", std::nan(""));
    if (got >= truth.lowest && got <= truth.highest) {
      const simgpu::KernelRecord& first_timed =
          loads.at(static_cast<std::size_t>(n_warmup * launches_per_call));
      const CallsBetween calls =
          calls_between(evidence.activity, first_timed.sequence, loads.back().sequence);
      const std::vector<Complaint> gaps = judge_gaps(got, truth, calls, n_repeat);
      return gaps.empty() ? judge_spread(evidence, truth.calls, 0) : gaps;
    }
    return {explain_latency(got, truth, n_warmup, n_repeat)};
  }

  /// @param noise of a time, relative
  static std::vector<Complaint> judge_spread(const CallEvidence& evidence, const CallTimes& calls,
                                             double noise) {
    if (!has_spread(calls)) return {};
    const Spread got{.standard_deviation = result(evidence, "standard_deviation", std::nan("")),
                     .median = result(evidence, "median", std::nan(""))};
    const auto complaint = wrong_spread(got, calls, noise);
    return complaint ? std::vector<Complaint>{*complaint} : std::vector<Complaint>{};
  }

  static bool is_wait(const simgpu::ApiRecord& call) {
    constexpr std::string_view kWaits[] = {"cudaDeviceSynchronize", "cudaStreamSynchronize",
                                           "cudaEventSynchronize", "cudaEventQuery",
                                           "cudaStreamQuery"};
    return std::ranges::find(kWaits, call.name) != std::end(kWaits);
  }

  /// What the host does between the first timed launch and the last one.
  struct CallsBetween {
    std::int64_t waits = 0;   ///< for the device, or questions whether it is done
    std::int64_t events = 0;  ///< recorded
  };
  static CallsBetween calls_between(const simgpu::Activity& activity, std::uint64_t first,
                                    std::uint64_t last) {
    CallsBetween between;
    for (const simgpu::ApiRecord& call : activity.calls) {
      if (call.sequence <= first || call.sequence >= last) continue;
      between.waits += is_wait(call) ? 1 : 0;
      between.events += call.name == "cudaEventRecord" ? 1 : 0;
    }
    return between;
  }

  /// Waiting between calls is no mistake by itself: two events around every call leave out what the
  /// device is idle between two of them. It is one where these gaps are in the mean.
  static std::vector<Complaint> judge_gaps(double got, const LatencyTruth& truth,
                                           const CallsBetween& calls, std::int64_t n_repeat) {
    const auto repeats = static_cast<double>(n_repeat);
    const double gaps = (truth.timed_calls - truth.busy) / repeats;
    const bool are_in_the_mean = got - truth.busy / repeats > gaps / 2;
    const bool waits_each_time = n_repeat > 1 && calls.waits >= n_repeat - 1;
    const bool has_two_events_for_each = calls.events >= 2 * (n_repeat - 1);
    if (!waits_each_time || has_two_events_for_each || !are_in_the_mean) return {};
    return {{"RL0427",
             "the host waits for the device after every timed call, and the device's idle time is "
             "in the mean" +
                 Evidence{message("; the kernels of one call take ", truth.busy / repeats,
                                  " ms, the function returned ", got)},
             "let all timed calls follow each other, and wait once, for the event behind the "
             "last"}};
  }

  /// The adapter itself reads the time of each of its own calls.
  static bool uses_events(const simgpu::Activity& activity, std::int64_t n_repeat) {
    const auto found = activity.api_calls.find("cudaEventElapsedTime");
    return found != activity.api_calls.end() && static_cast<std::int64_t>(found->second) > n_repeat;
  }

  /// Where the device keeps no records, the adapter's own measurement and count have to do.
  static std::vector<Complaint> judge_by_reference(const CallEvidence& evidence,
                                                   std::int64_t n_warmup, std::int64_t n_repeat) {
    constexpr double kNoise = 0.15;
    const std::int64_t calls = result<std::int64_t>(evidence, "calls", 0);
    if (calls != n_warmup + n_repeat) return {wrong_call_count(calls, n_warmup, n_repeat)};
    std::vector<double> reference;
    for (std::int64_t i = 0; i < n_repeat; ++i) {
      reference.push_back(result(evidence, "reference_" + std::to_string(i), std::nan("")));
    }
    const double got = result(evidence, "mean", std::nan(""));
    if (is_close(got, mean_of(reference), kNoise)) {
      return judge_spread(evidence, {reference, reference}, kNoise);
    }
    LatencyTruth truth;
    truth.timed_calls = mean_of(reference) * static_cast<double>(n_repeat);
    truth.calls = {reference, reference};
    return {explain_latency(got, truth, n_warmup, n_repeat)};
  }

  /// A name can be taken by anybody's kernel, so a launch also has to have done a load's work: one
  /// multiply-add for each step of each of the 32 threads. guest/benchmark.cu has the lengths.
  static bool does_a_loads_work(const Values& parameters, const simgpu::KernelRecord& kernel) {
    constexpr double kFlopsPerStep = 2 * 32;
    constexpr double kRounding = 1e-3;
    constexpr int kLengths = 8;
    const auto fp32 = kernel.counters.flops.find("fp32");
    const double done = fp32 == kernel.counters.flops.end() ? 0 : static_cast<double>(fp32->second);
    const auto steps = static_cast<double>(integer(parameters, "steps"));
    const auto further = static_cast<double>(integer(parameters, "further_steps", 0));
    const auto cold_factor = static_cast<double>(integer(parameters, "cold_factor"));
    for (int length = 0; length < kLengths; ++length) {
      const double warm = kFlopsPerStep * (steps + further * length);
      if (is_close(done, warm, kRounding) || is_close(done, warm * cold_factor, kRounding)) {
        return true;
      }
    }
    return false;
  }

  /// What calls of fn launched, in order.
  static std::vector<simgpu::KernelRecord> load_launches(const Values& parameters,
                                                         const simgpu::Activity& activity) {
    std::vector<simgpu::KernelRecord> loads;
    std::ranges::copy_if(activity.kernels, std::back_inserter(loads),
                         [&](const simgpu::KernelRecord& kernel) {
                           return kernel.name.find(kLoadKernel) != std::string::npos &&
                                  does_a_loads_work(parameters, kernel);
                         });
    std::ranges::sort(loads, {}, &simgpu::KernelRecord::sequence);
    return loads;
  }

  static LatencyTruth truth_of(const std::vector<simgpu::KernelRecord>& loads,
                               std::int64_t warmup_launches, std::int64_t n_repeat) {
    // What the events and launches themselves may add to a call, and rounding of a float.
    constexpr double kEventMilliseconds = 0.010;
    constexpr double kRounding = 1e-3;
    const auto end = [](const simgpu::KernelRecord& kernel) {
      return kernel.start_us + kernel.time.total_us;
    };
    const simgpu::KernelRecord& first_timed = loads.at(static_cast<std::size_t>(warmup_launches));
    double busy_us = 0;
    for (auto i = static_cast<std::size_t>(warmup_launches); i < loads.size(); ++i) {
      busy_us += loads[i].time.total_us;
    }
    const auto repeats = static_cast<double>(n_repeat);
    LatencyTruth truth;
    truth.busy = busy_us * 1e-3;
    const std::size_t timed = loads.size() - static_cast<std::size_t>(warmup_launches);
    const simgpu::KernelRecord& last_call =
        loads.at(loads.size() - timed / static_cast<std::size_t>(n_repeat));
    truth.to_last = (last_call.start_us - first_timed.start_us) * 1e-3;
    truth.last = (end(loads.back()) - last_call.start_us) * 1e-3;
    truth.timed_calls = (end(loads.back()) - first_timed.start_us) * 1e-3;
    truth.all_calls = (end(loads.back()) - loads.front().start_us) * 1e-3;
    truth.lowest = busy_us * 1e-3 / repeats * (1 - kRounding);
    truth.highest = truth.timed_calls / repeats * (1 + kRounding) + kEventMilliseconds;
    truth.calls = call_times(loads, static_cast<std::size_t>(warmup_launches),
                             timed / static_cast<std::size_t>(n_repeat));
    return truth;
  }

  static CallTimes call_times(const std::vector<simgpu::KernelRecord>& loads, std::size_t first,
                              std::size_t launches_per_call) {
    CallTimes calls;
    double end_us = loads.at(first).start_us;
    for (std::size_t i = first; i < loads.size(); i += launches_per_call) {
      double busy_us = 0;
      const double begin_us = end_us;
      for (std::size_t j = i; j < i + launches_per_call; ++j) {
        busy_us += loads.at(j).time.total_us;
        end_us = loads.at(j).start_us + loads.at(j).time.total_us;
      }
      calls.busy.push_back(busy_us * 1e-3);
      calls.span.push_back((end_us - begin_us) * 1e-3);
    }
    return calls;
  }

  static Complaint wrong_call_count(std::int64_t seen, std::int64_t n_warmup,
                                    std::int64_t n_repeat) {
    return {"RL0421",
            "fn was called the wrong number of times" +
                Evidence{message(": ", seen, " instead of ", n_warmup + n_repeat, ", which are ",
                                 n_warmup, " to warm up and ", n_repeat, " timed ones")},
            "check both loops, and do not call fn anywhere else, not even to test it"};
  }

  static Complaint no_events() {
    return {"RL0422",
            "the time does not come from CUDA events: cudaEventElapsedTime was never called",
            "a launch returns before the kernel has run, so the host's clock sees the wrong thing: "
            "record one event before the timed calls and one behind each"};
  }

  static Complaint explain_latency(double got, const LatencyTruth& truth, std::int64_t n_warmup,
                                   std::int64_t n_repeat) {
    constexpr double kSame = 0.02;
    const auto repeats = static_cast<double>(n_repeat);
    const auto calls = static_cast<double>(n_warmup + n_repeat);
    const double mean = truth.timed_calls / repeats;
    const Evidence evidence{
        message("; one call takes ", mean, " ms on the device, the function returned ", got)};
    const auto is = [&](double expected) { return is_close(got, expected, kSame); };

    if (!(std::abs(got) >= mean * 1e-6)) {
      return {
          "RL0423", "the events are read before the work between them is done" + evidence,
          "wait for the last event (cudaEventSynchronize) before cudaEventElapsedTime, and check "
          "what each call returns"};
    }
    if (n_warmup > 0 && truth.all_calls > 0 &&
        (is(truth.all_calls / repeats) || is(truth.all_calls / calls))) {
      return {"RL0424", "the warm-up calls are in the mean" + evidence,
              "record the first event after the warm-up calls, and divide by n_repeat"};
    }
    if (n_repeat > 1 && is_divided_by_events(got, truth, repeats)) {
      return {"RL0425",
              "the time is divided by the number of events, not by that of the calls" + evidence,
              "divide by n_repeat: between n + 1 events lie n calls"};
    }
    if (n_repeat > 1 && ends_at_the_last_start(got, truth, repeats)) {
      return {"RL0427", "the time ends where the last timed call begins" + evidence,
              "record each event behind its call, not before it"};
    }
    if (n_repeat > 1 && truth.last > 0 && is(truth.last)) {
      return {"RL0427", "this is the time of the last timed call alone" + evidence,
              "all timed calls are in the mean, and they may differ in length; an event that is "
              "recorded again has the later time"};
    }
    if (is(truth.timed_calls)) {
      return {"RL0425", "this is the time of all timed calls together" + evidence,
              "divide the time of all timed calls by n_repeat"};
    }
    if (is(truth.timed_calls / calls)) {
      return {"RL0425", "the time is divided by too many calls" + evidence,
              "divide by n_repeat: calls to warm up are in none of the times"};
    }
    if (n_repeat > 1 && is(mean_since_the_first(truth.calls.span))) {
      return {"RL0427", "each time begins at the first event" + evidence,
              "the time of a call lies between the event before it and the one behind it"};
    }
    if (is(mean * 1e3) || is(mean * 1e-3)) {
      return {"RL0426", "the unit is wrong by a factor of a thousand" + evidence,
              "cudaEventElapsedTime gives milliseconds, and so should this function"};
    }
    return {"RL0427", "this is not the mean time of a timed call" + evidence,
            "record one event right before the first timed call, and one right behind each"};
  }

  static double mean_since_the_first(std::vector<double> times) {
    std::partial_sum(times.begin(), times.end(), times.begin());
    return times.empty() ? std::nan("") : mean_of(times);
  }

  /// Of many calls that is nearly what a time that ends with the last start is, too.
  static bool is_divided_by_events(double got, const LatencyTruth& truth, double repeats) {
    constexpr double kRounding = 2e-3;
    const double by_events = truth.timed_calls / (repeats + 1);
    const double to_last = truth.to_last / repeats;
    return is_close(got, by_events, kRounding) &&
           std::abs(got - by_events) < std::abs(got - to_last);
  }

  /// An event that is recorded before a call has the time at which the work before it is done.
  static bool ends_at_the_last_start(double got, const LatencyTruth& truth, double repeats) {
    constexpr double kRounding = 2e-3;
    const double last = truth.timed_calls - truth.to_last;
    return truth.to_last > 0 &&
           std::abs(got * repeats - truth.to_last) < std::max(last / 2, truth.to_last * kRounding);
  }

  /// Whether the host waits between the work of fn and its first look at the pool behind it.
  static bool waits_before_reading(const simgpu::Activity& activity) {
    const auto is = [](std::string_view name) {
      return [name](const simgpu::ApiRecord& call) { return call.name == name; };
    };
    const auto& calls = activity.calls;
    // fn takes its last buffer, and gives it back.
    const auto taken = std::find_if(calls.rbegin(), calls.rend(), is("cudaMallocAsync")).base();
    const auto freed = std::find_if(taken, calls.end(), is("cudaFreeAsync"));
    const auto read = std::find_if(freed, calls.end(), is("cudaMemPoolGetAttribute"));
    return read == calls.end() || std::any_of(freed, read, is_wait);
  }

  /// Whether the host waits between what it asked of the pool before and its first look at it.
  static bool waits_for_earlier_work(const simgpu::Activity& activity) {
    const auto& calls = activity.calls;
    const auto is_read = [](const simgpu::ApiRecord& call) {
      return call.name == "cudaMemPoolGetAttribute";
    };
    const auto asks = [](const simgpu::ApiRecord& call) {
      return call.name == "cudaMallocAsync" || call.name == "cudaFreeAsync";
    };
    const auto read = std::ranges::find_if(calls, is_read);
    const auto asked = std::find_if(std::make_reverse_iterator(read), calls.rend(), asks).base();
    return read == calls.end() || std::any_of(asked, read, is_wait);
  }

  static std::vector<Complaint> judge_memory(const Values& parameters,
                                             const CallEvidence& evidence) {
    const std::int64_t freed = integer(parameters, "freed", 0);
    const std::int64_t held = integer(parameters, "held_before") + freed;
    const std::int64_t earlier_peak = held + integer(parameters, "earlier_peak");
    // What the call gives back first makes room for what it takes: only more than that is growth.
    const auto growth = [freed](std::int64_t taken) {
      return std::max<std::int64_t>(0, taken - freed);
    };
    const std::int64_t kept = growth(integer(parameters, "kept"));
    const std::int64_t peak =
        growth(integer(parameters, "kept") +
               std::max(integer(parameters, "first"), integer(parameters, "second")));

    const std::int64_t calls = evidence.keeps_records
                                   ? memory_calls_seen(freed > 0 ? 3 : 2, evidence.activity)
                                   : result<std::int64_t>(evidence, "calls", 0);
    if (calls != 1) {
      return {{"RL0421",
               "fn should be called once" + Evidence{message(", and was called ", calls, " times")},
               "read the pool, call fn, wait for the device, read the pool again"}};
    }
    if (evidence.keeps_records && !waits_for_earlier_work(evidence.activity)) {
      return {{"RL0428", "the pool is read while work from before the call may still be running",
               "wait for the device (cudaDeviceSynchronize) before the first "
               "cudaMemPoolGetAttribute, too: earlier requests on a stream may run later, and they "
               "are not fn's"}};
    }
    if (evidence.keeps_records && !waits_before_reading(evidence.activity)) {
      return {{"RL0428", "the pool is read before the work of fn is done",
               "wait for the device (cudaDeviceSynchronize) between fn and the first "
               "cudaMemPoolGetAttribute: what fn asked for on a stream may run later"}};
    }
    const std::int64_t got_peak = result<std::int64_t>(evidence, "peak_bytes", -1);
    if (got_peak != peak) return {explain_peak(got_peak, peak, held, earlier_peak)};
    const std::int64_t got_allocated = result<std::int64_t>(evidence, "allocated_bytes", -1);
    if (got_allocated != kept) {
      const Sentence cause =
          got_allocated == held + kept
              ? Sentence("allocated_bytes includes what was in use before the call")
              : Sentence("allocated_bytes is wrong");
      return {{"RL0429",
               cause + Evidence{message("; it should be ", kept, ", not ", got_allocated)},
               "subtract what the pool had in use before the call from what it has after"}};
    }
    return {};
  }

  /// How often the device saw fn take its three buffers from the pool, after those that the adapter
  /// takes itself. The guest's own count is the student's word.
  static std::int64_t memory_calls_seen(std::int64_t buffers_before,
                                        const simgpu::Activity& activity) {
    constexpr std::int64_t kBuffersOfACall = 3;
    const auto taken = activity.api_calls.find("cudaMallocAsync");
    if (taken == activity.api_calls.end()) return 0;
    return (static_cast<std::int64_t>(taken->second) - buffers_before) / kBuffersOfACall;
  }

  static Complaint explain_peak(std::int64_t got, std::int64_t peak, std::int64_t held,
                                std::int64_t earlier_peak) {
    const Evidence evidence{message("; it should be ", peak, " bytes, not ", got)};
    if (got == earlier_peak || got == earlier_peak - held) {
      return {"RL0428", "peak_bytes is the peak of something that ran before the call" + evidence,
              "set the pool's high-water mark to 0 right before the call"};
    }
    if (got == held + peak) {
      return {"RL0428", "peak_bytes includes what was in use before the call" + evidence,
              "subtract what the pool had in use before the call"};
    }
    return {"RL0428", "peak_bytes is wrong" + evidence,
            "reset the pool's high-water mark, call fn, wait for the device, then read the mark"};
  }
};

ROOFLAB_ORACLE("benchmark", BenchmarkOracle)

}  // namespace
}  // namespace rooflab

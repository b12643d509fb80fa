#include "labs/part4-fusion/oracle/trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "labs/oracle_support/parameters.h"

namespace rooflab {
namespace {

/// Names as they appear in profiles of PyTorch and cuBLAS, and of this course.
constexpr std::array kNames = {
    "ampere_sgemm_128x64_tn",
    "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_tn_align4>(Params)",
    "void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false>",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >",
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>",
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >",
    "multiply_kernel(float const*, float const*, float*, long)",
};

double eighths(double us) { return std::max(1.0, std::round(us * 8)) / 8; }

/// A host and a device with streams, event by event.
class Recorder {
 public:
  Recorder(const TraceShape& shape, Random& random)
      : shape_(shape), random_(random), stream_end_(static_cast<std::size_t>(shape.streams)) {}

  Trace record() {
    const double begin = host_us_;
    for (std::int64_t i = 1; i <= shape_.launches; ++i) {
      launch();
      if (shape_.synchronise_every > 0 && i % shape_.synchronise_every == 0) synchronise();
    }
    synchronise();
    trace_.push_back({"range", begin, host_us_ - begin, 0, next_correlation_, "iteration"});
    std::ranges::stable_sort(trace_, {}, &TraceEvent::end_us);
    return trace_;
  }

 private:
  /// A number of [0, 1).
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double about(double us) { return eighths(us * (0.5 + uniform())); }
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(count));
  }

  void launch() {
    const double roll = uniform();
    TraceEvent work{"kernel", 0, about(shape_.kernel_us), 0, next_correlation_, ""};
    const char* call = "cudaLaunchKernel";
    if (roll < 0.08) {
      work.kind = "copy";
      work.name =
          roll < 0.04 ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy DtoD (Device -> Device)";
      call = "cudaMemcpyAsync";
    } else if (roll < 0.12) {
      work.kind = "memset";
      work.name = "Memset (Device)";
      call = "cudaMemsetAsync";
    } else {
      work.name = kNames.at(below(kNames.size()));
    }
    const double call_us = about(shape_.launch_us);
    trace_.push_back({"api", host_us_, call_us, 0, next_correlation_++, call});
    host_us_ += call_us;
    const std::size_t stream = below(stream_end_.size());
    work.stream = static_cast<std::int64_t>(stream);
    work.start_us = std::max(host_us_, stream_end_[stream]) + kDeviceStart;
    stream_end_[stream] = work.end_us();
    trace_.push_back(work);
    host_us_ += eighths(uniform());
  }

  void synchronise() {
    const double done = std::max(host_us_, *std::ranges::max_element(stream_end_)) + eighths(1);
    trace_.push_back(
        {"api", host_us_, done - host_us_, 0, next_correlation_++, "cudaDeviceSynchronize"});
    host_us_ = done + eighths(1);
  }

  static constexpr double kDeviceStart = 0.25;  ///< of each piece of work, on the device

  const TraceShape& shape_;
  Random& random_;
  std::vector<double> stream_end_;
  double host_us_ = 128;
  std::int64_t next_correlation_ = 1;
  Trace trace_;
};

/// One line of the rule in profile.h, as a regular expression on the name's own part.
struct CategoryLine {
  const char* category;
  const char* pattern;
  const char* reason;
};

const CategoryLine& line_of(const std::string& name) {
  static const std::array<CategoryLine, 7> lines = {{
      {"memory", "^mem(cpy|set).*", "it begins with memcpy or memset"},
      {"other", ".*(flash|fmha|attention).*", "it contains flash, fmha or attention"},
      {"gemm", ".*(gemm|gemv|matmul|cutlass|wmma|xmma|splitk).*",
       "it contains gemm, gemv, matmul, cutlass, wmma, xmma or splitk"},
      {"softmax", ".*softmax.*", "it contains softmax"},
      {"layernorm", ".*(layer_?norm|rms_?norm).*",
       "it contains layernorm, layer_norm, rmsnorm or rms_norm"},
      {"elementwise",
       ".*(elementwise|pointwise|vectorized|unrolled|triton_poi).*|(.*[^a-z0-9])?(add|sub|mul|"
       "multiply|div|scale|square|sqrt|rsqrt|pow|exp|tanh|sigmoid|relu|gelu|silu|cast|fill)([^a-z0-"
       "9].*)?",
       "it contains elementwise, pointwise, vectorized, unrolled or triton_poi, or one of its "
       "words "
       "is a pointwise operation"},
      {"other", ".*", "no line of profile.h fits"},
  }};
  constexpr std::size_t kLongest =
      1000;  // a kernel may be called anything, and std::regex recurses
  const std::string own = name.substr(0, std::min(name.find('<'), kLongest));
  for (const CategoryLine& line : lines) {
    const std::regex pattern(line.pattern, std::regex::icase | std::regex::ECMAScript);
    if (std::regex_match(own, pattern)) return line;
  }
  throw std::logic_error("the last line fits every name");
}

/// Whether an event keeps the device busy under a rule.
bool is_busy(const TraceEvent& event, const GapRule& rule) {
  if (rule.stream >= 0 && event.stream != rule.stream) return false;
  if (event.kind == "api") return rule.calls_are_busy;
  if (event.kind == "copy" || event.kind == "memset") return !rule.copies_are_idle;
  return event.kind == "kernel";
}

/// What profile.h says of a gap that work with this correlation ends.
std::string cause_of(const Trace& trace, const TraceGap& gap, std::int64_t correlation) {
  const auto is_call = [&](const TraceEvent& event) {
    return event.kind == "api" && event.correlation == correlation;
  };
  const auto call = std::ranges::find_if(trace, is_call);
  if (call == trace.end()) return "device";
  const double gap_end = gap.start_us + gap.duration_us;
  for (const TraceEvent& event : trace) {
    const bool waits = event.kind == "api" && event.name.find("Synchronize") != std::string::npos;
    const double end = event.end_us();
    if (waits && gap.start_us <= end && end <= gap_end && end <= call->start_us) {
      return "synchronisation";
    }
  }
  return call->end_us() > gap.start_us ? "launch" : "device";
}

/// Correlation of the work that starts at this moment, the smallest.
std::int64_t starter_at(const Trace& trace, const GapRule& rule, double moment) {
  std::optional<std::int64_t> smallest;
  for (const TraceEvent& event : trace) {
    if (!is_busy(event, rule) || event.start_us != moment) continue;
    smallest = std::min(smallest.value_or(event.correlation), event.correlation);
  }
  return smallest.value_or(0);
}

/// The moments between which nothing runs: where the count of running events is 0.
std::vector<TraceGap> idle_times(const Trace& trace, const GapRule& rule) {
  std::map<double, std::int64_t> change;  // of the number of running events, by moment
  for (const TraceEvent& event : trace) {
    if (!is_busy(event, rule)) continue;
    ++change[event.start_us];
    --change[event.end_us()];
  }
  std::vector<TraceGap> gaps;
  std::int64_t running = 0;
  for (auto at = change.begin(); at != change.end(); ++at) {
    running += at->second;
    const auto next = std::next(at);
    if (running == 0 && next != change.end())
      gaps.push_back({at->first, next->first - at->first, ""});
  }
  return gaps;
}

/// From the end of each event to the start of the next, in the order of starts.
std::vector<TraceGap> distances(const Trace& trace, const GapRule& rule) {
  Trace busy;
  std::ranges::copy_if(trace, std::back_inserter(busy),
                       [&](const TraceEvent& event) { return is_busy(event, rule); });
  std::ranges::stable_sort(busy, {}, &TraceEvent::start_us);
  std::vector<TraceGap> gaps;
  for (std::size_t i = 1; i < busy.size(); ++i) {
    const double from = busy[i - 1].end_us();
    if (busy[i].start_us > from) gaps.push_back({from, busy[i].start_us - from, ""});
  }
  return gaps;
}

}  // namespace

Trace parse_trace(const std::string& text) {
  Trace trace;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    std::istringstream words(line);
    TraceEvent event;
    words >> event.kind >> event.start_us >> event.duration_us >> event.stream >> event.correlation;
    if (!words || !std::getline(words >> std::ws, event.name)) {
      throw std::invalid_argument(
          "a line of `events` is not: <kind> <start> <duration> <stream> <correlation> <name>: " +
          line);
    }
    trace.push_back(event);
  }
  return trace;
}

std::string to_text(const Trace& trace) {
  constexpr int kDigits = 17;
  std::ostringstream out;
  out.precision(kDigits);
  for (const TraceEvent& event : trace) {
    out << event.kind << ' ' << event.start_us << ' ' << event.duration_us << ' ' << event.stream
        << ' ' << event.correlation << ' ' << event.name << '\n';
  }
  return out.str();
}

Trace trace_of(const simgpu::Activity& activity) {
  Trace trace;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    trace.push_back({"kernel", kernel.start_us, kernel.time.total_us,
                     static_cast<std::int64_t>(kernel.stream), 0, kernel.name});
  }
  for (const simgpu::MemoryRecord& memory : activity.memory) {
    const bool set = memory.operation == simgpu::MemoryOperation::set;
    trace.push_back({set ? "memset" : "copy", memory.start_us, memory.time_us,
                     static_cast<std::int64_t>(memory.stream), 0,
                     set ? "Memset (Device)"
                         : std::string("Memcpy (") + simgpu::name_of(memory.operation) + ")"});
  }
  std::ranges::stable_sort(trace, {}, &TraceEvent::start_us);
  return trace;
}

TraceShape trace_shape(const Values& parameters) {
  return {integer(parameters, "launches"), integer(parameters, "streams"),
          real(parameters, "kernel_us"), real(parameters, "launch_us"),
          integer(parameters, "synchronise_every", 0)};
}

Trace make_trace(const TraceShape& shape, Random& random) {
  return Recorder(shape, random).record();
}

std::string category_of(const std::string& name) { return line_of(name).category; }
std::string reason_of(const std::string& name) { return line_of(name).reason; }

std::vector<TraceGap> gaps_of(const Trace& trace, const GapRule& rule) {
  std::vector<TraceGap> gaps =
      rule.after_the_event_before ? distances(trace, rule) : idle_times(trace, rule);
  for (TraceGap& gap : gaps) {
    gap.cause = cause_of(trace, gap, starter_at(trace, rule, gap.start_us + gap.duration_us));
  }
  return gaps;
}

}  // namespace rooflab

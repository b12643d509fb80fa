#include "profile.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "toolkit/todo.h"

namespace {

using Kind = ProfiledEvent::Kind;

// A line of the rule in profile.h: a name fits when it contains one of the parts, or when one of
// its words is among the words.
struct Rule {
  Category category;
  std::vector<std::string> parts, words = {};
};

// All lines of the rule but its first, in order. Names are in lower case here.
const std::vector<Rule> kRules = {
    {Category::other, {"flash", "fmha", "attention"}},
    {Category::gemm, {"gemm", "gemv", "matmul", "cutlass", "wmma", "xmma", "splitk"}},
    {Category::softmax, {"softmax"}},
    {Category::layernorm, {"layernorm", "layer_norm", "rmsnorm", "rms_norm"}},
    {Category::elementwise,
     {"elementwise", "pointwise", "vectorized", "unrolled", "triton_poi"},
     {"add", "sub", "mul", "multiply", "div", "scale", "square", "sqrt", "rsqrt", "pow", "exp",
      "tanh", "sigmoid", "relu", "gelu", "silu", "cast", "fill"}}};

// The longest runs of letters and digits.
std::vector<std::string> words_of(const std::string& name) {
  const auto is_word_letter = [](unsigned char letter) { return std::isalnum(letter) != 0; };
  std::vector<std::string> words;
  for (auto at = name.begin(); at != name.end();) {
    const auto begin = std::find_if(at, name.end(), is_word_letter);
    at = std::find_if_not(begin, name.end(), is_word_letter);
    if (begin != at) words.emplace_back(begin, at);
  }
  return words;
}

bool fits(const Rule& rule, const std::string& name) {
  for (const std::string& part : rule.parts) {
    if (name.find(part) != std::string::npos) return true;
  }
  for (const std::string& word : words_of(name)) {
    if (std::ranges::find(rule.words, word) != rule.words.end()) return true;
  }
  return false;
}

}  // namespace

Category classify(std::string_view name) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("cut the name at '<', turn it to lower case, then take the first rule that fits");
  std::string own(name.substr(0, name.find('<')));
  for (char& letter : own) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  if (own.starts_with("memcpy") || own.starts_with("memset")) return Category::memory;
  for (const Rule& rule : kRules) {
    if (fits(rule, own)) return rule.category;
  }
  return Category::other;
  // END SOLUTION
}

// BEGIN SOLUTION
// STARTER: // Your helpers go here: what is a device event, and when does it end?
namespace {

bool is_on_device(const ProfiledEvent& event) {
  return event.kind == Kind::kernel || event.kind == Kind::copy || event.kind == Kind::memset;
}

double end_of(const ProfiledEvent& event) { return event.start_us + event.duration_us; }

// Device events by their start; of those that start together, the first issued first.
std::vector<ProfiledEvent> on_device_in_order(const std::vector<ProfiledEvent>& events) {
  std::vector<ProfiledEvent> on_device;
  std::ranges::copy_if(events, std::back_inserter(on_device), is_on_device);
  std::ranges::sort(on_device, [](const ProfiledEvent& a, const ProfiledEvent& b) {
    return std::pair(a.start_us, a.correlation) < std::pair(b.start_us, b.correlation);
  });
  return on_device;
}

GapCause cause_of(const Gap& gap, std::uint64_t correlation,
                  const std::vector<ProfiledEvent>& events) {
  const auto call = std::ranges::find_if(events, [&](const ProfiledEvent& event) {
    return event.kind == Kind::api && event.correlation == correlation;
  });
  if (call == events.end()) return GapCause::device;
  const bool host_waited = std::ranges::any_of(events, [&](const ProfiledEvent& event) {
    return event.kind == Kind::api && event.name.find("Synchronize") != std::string::npos &&
           end_of(event) >= gap.start_us && end_of(event) <= gap.start_us + gap.duration_us &&
           end_of(event) <= call->start_us;
  });
  if (host_waited) return GapCause::synchronisation;
  return end_of(*call) > gap.start_us ? GapCause::launch : GapCause::device;
}

}  // namespace
// END SOLUTION

CategoryCounts count_by_category(const std::vector<ProfiledEvent>& events) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("which events ran on the device? Classify each and count it");
  CategoryCounts counts;
  for (const ProfiledEvent& event : events) {
    if (!is_on_device(event)) continue;
    ++counts.total;
    switch (classify(event.name)) {
      case Category::gemm:
        ++counts.gemm;
        break;
      case Category::elementwise:
        ++counts.elementwise;
        break;
      case Category::softmax:
        ++counts.softmax;
        break;
      case Category::layernorm:
        ++counts.layernorm;
        break;
      case Category::memory:
        ++counts.memory;
        break;
      case Category::other:
        ++counts.other;
        break;
    }
  }
  return counts;
  // END SOLUTION
}

std::vector<Summary> summarise(const std::vector<ProfiledEvent>& events) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("gather calls and times by name, then means and shares, then sort");
  std::map<std::string, Summary> by_name;
  double all_us = 0;
  for (const ProfiledEvent& event : events) {
    if (!is_on_device(event)) continue;
    Summary& summary = by_name[event.name];
    summary.name = event.name;
    summary.total_us += event.duration_us;
    ++summary.calls;
    all_us += event.duration_us;
  }
  std::vector<Summary> summaries;
  for (auto& [name, summary] : by_name) {
    summary.mean_us = summary.total_us / static_cast<double>(summary.calls);
    summary.share = all_us > 0 ? summary.total_us / all_us : 0;
    summaries.push_back(summary);
  }
  // The map is in the order of names, and a stable sort leaves equal totals in it.
  std::ranges::stable_sort(summaries, std::ranges::greater(), &Summary::total_us);
  return summaries;
  // END SOLUTION
}

std::string top_kernel(const std::vector<ProfiledEvent>& events) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("summarise only the kernels: which comes first?");
  std::vector<ProfiledEvent> kernels;
  std::ranges::copy_if(events, std::back_inserter(kernels),
                       [](const ProfiledEvent& event) { return event.kind == Kind::kernel; });
  const std::vector<Summary> summaries = summarise(kernels);
  return summaries.empty() ? "" : summaries.front().name;
  // END SOLUTION
}

std::vector<Gap> launch_gaps(const std::vector<ProfiledEvent>& events) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("walk over the device events by their start: until when is the device busy?");
  std::vector<Gap> gaps;
  const std::vector<ProfiledEvent> on_device = on_device_in_order(events);
  if (on_device.empty()) return gaps;
  double busy_until = end_of(on_device.front());  // of all streams
  for (const ProfiledEvent& event : on_device) {
    if (event.start_us > busy_until) {
      Gap gap{.start_us = busy_until, .duration_us = event.start_us - busy_until};
      gap.cause = cause_of(gap, event.correlation, events);
      gaps.push_back(gap);
    }
    busy_until = std::max(busy_until, end_of(event));
  }
  return gaps;
  // END SOLUTION
}

WorkloadReport profile_workload(const std::function<void()>& iteration) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("let rooflab::profile run the iterations; which of its events are needed?");
  const rooflab::Schedule schedule = {.wait = 1, .warmup = 3, .active = 6};
  const rooflab::Profile profile = rooflab::profile(iteration, schedule);
  const CategoryCounts all = count_by_category(profile.events);
  const int n = schedule.active;
  WorkloadReport report;
  report.counts = {all.gemm / n,   all.elementwise / n, all.softmax / n, all.layernorm / n,
                   all.memory / n, all.other / n,       all.total / n};
  const std::vector<ProfiledEvent> on_device = on_device_in_order(profile.events);
  double first_start = 0;
  double last_end = 0;
  for (const ProfiledEvent& event : on_device) {
    report.device_us += event.duration_us / n;
    first_start = on_device.front().start_us;
    last_end = std::max(last_end, end_of(event));
  }
  report.span_us = (last_end - first_start) / n;
  report.top_kernel = top_kernel(profile.events);
  return report;
  // END SOLUTION
}

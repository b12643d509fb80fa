#include "profile.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

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
  std::string lower;
  for (const char letter : name) {
    if (letter == '<') break;
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  for (const char* start : {"memcpy", "memset"}) {
    if (lower.rfind(start, 0) == 0) return Category::memory;
  }
  const auto rule = std::find_if(kRules.begin(), kRules.end(),
                                 [&](const Rule& one) { return fits(one, lower); });
  return rule == kRules.end() ? Category::other : rule->category;
}

namespace {

std::vector<ProfiledEvent> on_device(const std::vector<ProfiledEvent>& events) {
  std::vector<ProfiledEvent> kept;
  for (const ProfiledEvent& event : events) {
    if (event.kind != Kind::api && event.kind != Kind::range) kept.push_back(event);
  }
  return kept;
}

double end_of(const ProfiledEvent& event) { return event.start_us + event.duration_us; }

}  // namespace

CategoryCounts count_by_category(const std::vector<ProfiledEvent>& events) {
  CategoryCounts counts;
  for (const ProfiledEvent& event : on_device(events)) {
    ++counts.total;
    switch (classify(event.name)) {
      case Category::gemm: ++counts.gemm; break;
      case Category::elementwise: ++counts.elementwise; break;
      case Category::softmax: ++counts.softmax; break;
      case Category::layernorm: ++counts.layernorm; break;
      case Category::memory: ++counts.memory; break;
      case Category::other: ++counts.other; break;
    }
  }
  return counts;
}

std::vector<Summary> summarise(const std::vector<ProfiledEvent>& events) {
  std::map<std::string, Summary> by_name;
  double everything = 0;
  for (const ProfiledEvent& event : on_device(events)) {
    Summary& summary = by_name[event.name];
    summary.name = event.name;
    summary.calls += 1;
    summary.total_us += event.duration_us;
    everything += event.duration_us;
  }
  std::vector<Summary> sorted;
  for (auto& [name, summary] : by_name) {
    summary.mean_us = summary.total_us / summary.calls;
    summary.share = everything > 0 ? summary.total_us / everything : 0;
    sorted.push_back(summary);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const Summary& a, const Summary& b) {
    return a.total_us > b.total_us;
  });
  return sorted;
}

std::string top_kernel(const std::vector<ProfiledEvent>& events) {
  std::map<std::string, double> totals;
  for (const ProfiledEvent& event : events) {
    if (event.kind == Kind::kernel) totals[event.name] += event.duration_us;
  }
  std::string top;
  double most = -1;
  for (const auto& [name, total] : totals) {
    if (total > most) {
      top = name;
      most = total;
    }
  }
  return top;
}

std::vector<Gap> launch_gaps(const std::vector<ProfiledEvent>& events) {
  std::vector<ProfiledEvent> device = on_device(events);
  std::sort(device.begin(), device.end(), [](const ProfiledEvent& a, const ProfiledEvent& b) {
    return std::pair(a.start_us, a.correlation) < std::pair(b.start_us, b.correlation);
  });
  const auto cause_of = [&](const ProfiledEvent& next, double begin) {
    const auto call = std::find_if(events.begin(), events.end(), [&](const ProfiledEvent& event) {
      return event.kind == Kind::api && event.correlation == next.correlation;
    });
    if (call == events.end()) return GapCause::device;
    for (const ProfiledEvent& event : events) {
      if (event.kind != Kind::api || event.name.find("Synchronize") == std::string::npos) continue;
      const double end = end_of(event);
      if (begin <= end && end <= next.start_us && end <= call->start_us) {
        return GapCause::synchronisation;
      }
    }
    return end_of(*call) > begin ? GapCause::launch : GapCause::device;
  };

  std::vector<Gap> gaps;
  double busy_until = device.empty() ? 0 : device.front().start_us;
  for (const ProfiledEvent& event : device) {
    if (event.start_us > busy_until) {
      gaps.push_back({busy_until, event.start_us - busy_until, cause_of(event, busy_until)});
    }
    busy_until = std::max(busy_until, end_of(event));
  }
  return gaps;
}

WorkloadReport profile_workload(const std::function<void()>& iteration) {
  const rooflab::Schedule schedule{.wait = 1, .warmup = 3, .active = 6};
  const rooflab::Profile seen = rooflab::profile(iteration, schedule);
  const std::vector<ProfiledEvent> device = on_device(seen.events);
  WorkloadReport report;
  report.counts = count_by_category(device);
  for (std::int64_t* count :
       {&report.counts.gemm, &report.counts.elementwise, &report.counts.softmax,
        &report.counts.layernorm, &report.counts.memory, &report.counts.other,
        &report.counts.total}) {
    *count /= schedule.active;
  }
  report.top_kernel = top_kernel(device);
  if (device.empty()) return report;
  double first = device.front().start_us, last = 0;
  for (const ProfiledEvent& event : device) {
    report.device_us += event.duration_us / schedule.active;
    first = std::min(first, event.start_us);
    last = std::max(last, end_of(event));
  }
  report.span_us = (last - first) / schedule.active;
  return report;
}

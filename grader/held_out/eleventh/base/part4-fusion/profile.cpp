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


namespace {

bool on_device(const ProfiledEvent& event) {
  return event.kind != Kind::api && event.kind != Kind::range;
}

double end_of(const ProfiledEvent& event) { return event.start_us + event.duration_us; }

// The device events, as they started; of those that start together, the first issued one first.
std::vector<ProfiledEvent> device_events(const std::vector<ProfiledEvent>& events) {
  std::vector<ProfiledEvent> chosen;
  for (const ProfiledEvent& event : events) {
    if (on_device(event)) chosen.push_back(event);
  }
  std::sort(chosen.begin(), chosen.end(), [](const ProfiledEvent& a, const ProfiledEvent& b) {
    if (a.start_us != b.start_us) return a.start_us < b.start_us;
    return a.correlation < b.correlation;
  });
  return chosen;
}

GapCause cause_of(const std::vector<ProfiledEvent>& events, double from, const ProfiledEvent& next) {
  const ProfiledEvent* call = nullptr;
  for (const ProfiledEvent& event : events) {
    if (event.kind == Kind::api && event.correlation == next.correlation) call = &event;
  }
  if (call == nullptr) return GapCause::device;
  for (const ProfiledEvent& event : events) {
    if (event.kind != Kind::api) continue;
    if (event.name.find("Synchronize") == std::string::npos) continue;
    const double ended = end_of(event);
    if (ended >= from && ended <= next.start_us && ended <= call->start_us) {
      return GapCause::synchronisation;
    }
  }
  return end_of(*call) > from ? GapCause::launch : GapCause::device;
}

}  // namespace

Category classify(std::string_view name) {
  std::string plain;
  for (const char letter : name.substr(0, name.find('<'))) {
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  if (plain.rfind("memcpy", 0) == 0 || plain.rfind("memset", 0) == 0) return Category::memory;
  for (const Rule& rule : kRules) {
    if (fits(rule, plain)) return rule.category;
  }
  return Category::other;
}

CategoryCounts count_by_category(const std::vector<ProfiledEvent>& events) {
  CategoryCounts counts;
  for (const ProfiledEvent& event : events) {
    if (!on_device(event)) continue;
    counts.total += 1;
    switch (classify(event.name)) {
      case Category::gemm: counts.gemm += 1; break;
      case Category::elementwise: counts.elementwise += 1; break;
      case Category::softmax: counts.softmax += 1; break;
      case Category::layernorm: counts.layernorm += 1; break;
      case Category::memory: counts.memory += 1; break;
      case Category::other: counts.other += 1; break;
    }
  }
  return counts;
}

std::vector<Summary> summarise(const std::vector<ProfiledEvent>& events) {
  std::map<std::string, Summary> by_name;
  double everything = 0;
  for (const ProfiledEvent& event : events) {
    if (!on_device(event)) continue;
    Summary& entry = by_name[event.name];
    entry.name = event.name;
    entry.calls += 1;
    entry.total_us += event.duration_us;
    everything += event.duration_us;
  }
  std::vector<Summary> all;
  for (auto& [name, entry] : by_name) {
    entry.mean_us = entry.total_us / entry.calls;
    entry.share = everything > 0 ? entry.total_us / everything : 0;
    all.push_back(entry);
  }
  // The map has the names in order, and a stable sort keeps that where totals are equal.
  std::stable_sort(all.begin(), all.end(), [](const Summary& a, const Summary& b) {
    return a.total_us > b.total_us;
  });
  return all;
}

std::string top_kernel(const std::vector<ProfiledEvent>& events) {
  std::vector<ProfiledEvent> kernels;
  for (const ProfiledEvent& event : events) {
    if (event.kind == Kind::kernel) kernels.push_back(event);
  }
  const std::vector<Summary> ranking = summarise(kernels);
  return ranking.empty() ? std::string() : ranking.front().name;
}

std::vector<Gap> launch_gaps(const std::vector<ProfiledEvent>& events) {
  std::vector<Gap> gaps;
  const std::vector<ProfiledEvent> device = device_events(events);
  if (device.empty()) return gaps;
  double busy_until = end_of(device.front());
  for (std::size_t i = 1; i < device.size(); ++i) {
    const ProfiledEvent& next = device[i];
    if (next.start_us > busy_until) {
      Gap gap;
      gap.start_us = busy_until;
      gap.duration_us = next.start_us - busy_until;
      gap.cause = cause_of(events, busy_until, next);
      gaps.push_back(gap);
    }
    busy_until = std::max(busy_until, end_of(next));
  }
  return gaps;
}

WorkloadReport profile_workload(const std::function<void()>& iteration) {
  rooflab::Schedule schedule;
  schedule.wait = 1;
  schedule.warmup = 3;
  schedule.active = 6;
  const rooflab::Profile seen = rooflab::profile(iteration, schedule);
  const int runs = schedule.active;
  const std::vector<ProfiledEvent> device = device_events(seen.events);
  WorkloadReport report;
  report.counts = count_by_category(device);
  for (std::int64_t* count :
       {&report.counts.gemm, &report.counts.elementwise, &report.counts.softmax,
        &report.counts.layernorm, &report.counts.memory, &report.counts.other,
        &report.counts.total}) {
    *count /= runs;
  }
  if (device.empty()) return report;
  double last = 0;
  for (const ProfiledEvent& event : device) {
    report.device_us += event.duration_us / runs;
    last = std::max(last, end_of(event));
  }
  report.span_us = (last - device.front().start_us) / runs;
  report.top_kernel = top_kernel(device);
  return report;
}

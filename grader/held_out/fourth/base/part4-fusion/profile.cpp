#include "profile.h"

#include <algorithm>
#include <cctype>
#include <map>

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
  std::string plain;
  for (const char letter : name) {
    if (letter == '<') break;
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  if (plain.rfind("memcpy", 0) == 0 || plain.rfind("memset", 0) == 0) return Category::memory;
  for (const Rule& rule : kRules) {
    if (fits(rule, plain)) return rule.category;
  }
  return Category::other;
}

namespace {

double end_of(const ProfiledEvent& event) { return event.start_us + event.duration_us; }

// Totals by name of all events that `wanted` lets through.
template <typename Wanted>
std::vector<Summary> totals(const std::vector<ProfiledEvent>& events, Wanted wanted) {
  std::map<std::string, Summary> by_name;
  double everything = 0;
  for (const ProfiledEvent& event : events) {
    if (!wanted(event)) continue;
    Summary& entry = by_name[event.name];
    entry.name = event.name;
    entry.calls++;
    entry.total_us += event.duration_us;
    everything += event.duration_us;
  }
  std::vector<Summary> list;
  for (auto& [name, entry] : by_name) {
    entry.mean_us = entry.total_us / entry.calls;
    entry.share = everything > 0 ? entry.total_us / everything : 0;
    list.push_back(entry);
  }
  std::ranges::stable_sort(list, std::ranges::greater{}, &Summary::total_us);
  return list;
}

}  // namespace

CategoryCounts count_by_category(const std::vector<ProfiledEvent>& events) {
  CategoryCounts counts;
  for (const ProfiledEvent& event : events) {
    if (!rooflab::is_device_work(event)) continue;
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
}

std::vector<Summary> summarise(const std::vector<ProfiledEvent>& events) {
  return totals(events, rooflab::is_device_work);
}

std::string top_kernel(const std::vector<ProfiledEvent>& events) {
  const auto list =
      totals(events, [](const ProfiledEvent& event) { return event.kind == Kind::kernel; });
  return list.empty() ? std::string() : list.front().name;
}

std::vector<Gap> launch_gaps(const std::vector<ProfiledEvent>& events) {
  std::map<std::uint64_t, const ProfiledEvent*> call_of;
  std::vector<const ProfiledEvent*> waits, work;
  for (const ProfiledEvent& event : events) {
    if (event.kind == Kind::api) {
      call_of[event.correlation] = &event;
      if (event.name.find("Synchronize") != std::string::npos) waits.push_back(&event);
    }
    if (rooflab::is_device_work(event)) work.push_back(&event);
  }
  std::ranges::sort(work, [](const ProfiledEvent* left, const ProfiledEvent* right) {
    if (left->start_us != right->start_us) return left->start_us < right->start_us;
    return left->correlation < right->correlation;
  });

  std::vector<Gap> gaps;
  double busy_until = 0;
  for (const ProfiledEvent* next : work) {
    if (next != work.front() && next->start_us > busy_until) {
      Gap gap{busy_until, next->start_us - busy_until, GapCause::device};
      const auto call = call_of.find(next->correlation);
      if (call != call_of.end()) {
        if (end_of(*call->second) > busy_until) gap.cause = GapCause::launch;
        for (const ProfiledEvent* wait : waits) {
          const double end = end_of(*wait);
          if (end >= busy_until && end <= next->start_us && end <= call->second->start_us) {
            gap.cause = GapCause::synchronisation;
          }
        }
      }
      gaps.push_back(gap);
    }
    busy_until = std::max(busy_until, end_of(*next));
  }
  return gaps;
}

WorkloadReport profile_workload(const std::function<void()>& iteration) {
  const rooflab::Profile seen = rooflab::profile(iteration, {.wait = 1, .warmup = 3, .active = 6});
  WorkloadReport report;
  const CategoryCounts all = count_by_category(seen.events);
  const int n = seen.iterations;
  report.counts = {all.gemm / n,   all.elementwise / n, all.softmax / n, all.layernorm / n,
                   all.memory / n, all.other / n,       all.total / n};
  bool any = false;
  double first = 0, last = 0;
  for (const ProfiledEvent& event : seen.events) {
    if (!rooflab::is_device_work(event)) continue;
    report.device_us += event.duration_us / n;
    first = any ? std::min(first, event.start_us) : event.start_us;
    last = std::max(last, end_of(event));
    any = true;
  }
  report.span_us = (last - first) / n;
  report.top_kernel = top_kernel(seen.events);
  return report;
}

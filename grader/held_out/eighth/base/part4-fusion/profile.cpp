#include "profile.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace {

using Kind = ProfiledEvent::Kind;
using Names = std::vector<std::string>;

const Names kSeveral = {"flash", "fmha", "attention"};
const Names kGemms = {"gemm", "gemv", "matmul", "cutlass", "wmma", "xmma", "splitk"};
const Names kNorms = {"layernorm", "layer_norm", "rmsnorm", "rms_norm"};
const Names kPointwise = {"elementwise", "pointwise", "vectorized", "unrolled", "triton_poi"};
const Names kPointwiseWords = {"add",  "sub",  "mul", "multiply", "div",     "scale",
                               "square", "sqrt", "rsqrt", "pow",  "exp",     "tanh",
                               "sigmoid", "relu", "gelu", "silu", "cast",    "fill"};

bool has_any(const std::string& name, const Names& parts) {
  return std::ranges::any_of(
      parts, [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

bool has_word(const std::string& name, const Names& words) {
  std::string word;
  for (const char letter : name + " ") {
    if (std::isalnum(static_cast<unsigned char>(letter))) {
      word += letter;
      continue;
    }
    if (std::ranges::find(words, word) != words.end()) return true;
    word.clear();
  }
  return false;
}

bool on_device(const ProfiledEvent& event) {
  return event.kind != Kind::api && event.kind != Kind::range;
}

double end_of(const ProfiledEvent& event) { return event.start_us + event.duration_us; }

std::vector<ProfiledEvent> device_events(const std::vector<ProfiledEvent>& events) {
  std::vector<ProfiledEvent> kept;
  std::ranges::copy_if(events, std::back_inserter(kept), on_device);
  std::ranges::sort(kept, [](const ProfiledEvent& a, const ProfiledEvent& b) {
    if (a.start_us != b.start_us) return a.start_us < b.start_us;
    return a.correlation < b.correlation;
  });
  return kept;
}

GapCause cause_of(const Gap& gap, std::uint64_t correlation,
                  const std::vector<ProfiledEvent>& events) {
  const ProfiledEvent* call = nullptr;
  for (const ProfiledEvent& event : events) {
    if (event.kind == Kind::api && event.correlation == correlation) call = &event;
  }
  if (call == nullptr) return GapCause::device;

  const double gap_end = gap.start_us + gap.duration_us;
  for (const ProfiledEvent& event : events) {
    if (event.kind != Kind::api || event.name.find("Synchronize") == std::string::npos) continue;
    const double ended = end_of(event);
    const bool within = ended >= gap.start_us && ended <= gap_end;
    if (within && ended <= call->start_us) return GapCause::synchronisation;
  }
  return end_of(*call) > gap.start_us ? GapCause::launch : GapCause::device;
}

}  // namespace

Category classify(std::string_view name) {
  std::string plain(name.substr(0, name.find('<')));
  for (char& letter : plain) letter = std::tolower(static_cast<unsigned char>(letter));
  if (plain.starts_with("memcpy") || plain.starts_with("memset")) return Category::memory;
  if (has_any(plain, kSeveral)) return Category::other;
  if (has_any(plain, kGemms)) return Category::gemm;
  if (has_any(plain, {"softmax"})) return Category::softmax;
  if (has_any(plain, kNorms)) return Category::layernorm;
  if (has_any(plain, kPointwise)) return Category::elementwise;
  if (has_word(plain, kPointwiseWords)) return Category::elementwise;
  return Category::other;
}

CategoryCounts count_by_category(const std::vector<ProfiledEvent>& events) {
  CategoryCounts counts;
  for (const ProfiledEvent& event : events) {
    if (!on_device(event)) continue;
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
  double all = 0;
  for (const ProfiledEvent& event : events) {
    if (!on_device(event)) continue;
    Summary& line = by_name[event.name];
    line.name = event.name;
    line.calls += 1;
    line.total_us += event.duration_us;
    all += event.duration_us;
  }
  std::vector<Summary> lines;
  for (auto& [name, line] : by_name) {
    line.mean_us = line.total_us / static_cast<double>(line.calls);
    line.share = all > 0 ? line.total_us / all : 0;
    lines.push_back(line);
  }
  std::ranges::stable_sort(
      lines, [](const Summary& a, const Summary& b) { return a.total_us > b.total_us; });
  return lines;
}

std::string top_kernel(const std::vector<ProfiledEvent>& events) {
  std::vector<ProfiledEvent> kernels;
  for (const ProfiledEvent& event : events) {
    if (event.kind == Kind::kernel) kernels.push_back(event);
  }
  const std::vector<Summary> lines = summarise(kernels);
  return lines.empty() ? std::string() : lines.front().name;
}

std::vector<Gap> launch_gaps(const std::vector<ProfiledEvent>& events) {
  std::vector<Gap> gaps;
  double busy_until = 0;
  bool begun = false;
  for (const ProfiledEvent& event : device_events(events)) {
    if (begun && event.start_us > busy_until) {
      Gap gap{busy_until, event.start_us - busy_until, GapCause::device};
      gap.cause = cause_of(gap, event.correlation, events);
      gaps.push_back(gap);
    }
    busy_until = begun ? std::max(busy_until, end_of(event)) : end_of(event);
    begun = true;
  }
  return gaps;
}

WorkloadReport profile_workload(const std::function<void()>& iteration) {
  const rooflab::Schedule schedule{.wait = 1, .warmup = 3, .active = 6};
  const std::vector<ProfiledEvent> events = rooflab::profile(iteration, schedule).events;
  const std::vector<ProfiledEvent> work = device_events(events);
  const int runs = schedule.active;

  WorkloadReport report;
  report.counts = count_by_category(events);
  for (std::int64_t* count :
       {&report.counts.gemm, &report.counts.elementwise, &report.counts.softmax,
        &report.counts.layernorm, &report.counts.memory, &report.counts.other,
        &report.counts.total}) {
    *count /= runs;
  }
  double last = 0;
  for (const ProfiledEvent& event : work) {
    report.device_us += event.duration_us / runs;
    last = std::max(last, end_of(event));
  }
  if (!work.empty()) report.span_us = (last - work.front().start_us) / runs;
  report.top_kernel = top_kernel(events);
  return report;
}

#include "trace.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <tuple>

#include "toolkit/profiler/chrome_trace.h"

void export_trace(const std::function<void()>& program, const std::filesystem::path& file) {
  const rooflab::Profile seen =
      rooflab::profile(program, rooflab::Schedule{.wait = 1, .warmup = 2, .active = 3});
  std::ofstream(file) << rooflab::chrome_trace(seen);
}

std::vector<KernelPair> neighbours(const std::vector<ProfiledEvent>& events) {
  std::vector<ProfiledEvent> work;
  for (const auto& e : events) {
    if (rooflab::is_device_work(e)) work.push_back(e);
  }
  std::sort(work.begin(), work.end(), [](const auto& l, const auto& r) {
    return std::tie(l.stream, l.start_us) < std::tie(r.stream, r.start_us);
  });
  std::map<std::pair<std::string, std::string>, KernelPair> found;
  for (std::size_t i = 0; i + 1 < work.size(); ++i) {
    const auto& one = work[i];
    const auto& two = work[i + 1];
    if (one.stream != two.stream) continue;
    if (one.kind != ProfiledEvent::Kind::kernel || two.kind != ProfiledEvent::Kind::kernel) continue;
    KernelPair& pair = found[{one.name, two.name}];
    pair.first = one.name;
    pair.second = two.name;
    pair.times += 1;
    pair.total_us += one.duration_us + two.duration_us;
  }
  std::vector<KernelPair> sorted;
  for (const auto& entry : found) sorted.push_back(entry.second);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& l, const auto& r) { return l.total_us > r.total_us; });
  return sorted;
}

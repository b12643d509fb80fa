#include "trace.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <tuple>

#include "toolkit/profiler/chrome_trace.h"

void export_trace(const std::function<void()>& program, const std::filesystem::path& file) {
  const rooflab::Schedule schedule{.wait = 1, .warmup = 2, .active = 3};
  std::ofstream(file) << rooflab::chrome_trace(rooflab::profile(program, schedule));
}

std::vector<KernelPair> neighbours(const std::vector<ProfiledEvent>& events) {
  using Kind = ProfiledEvent::Kind;
  std::map<std::uint64_t, std::map<double, const ProfiledEvent*>> streams;  // each by start
  for (const ProfiledEvent& event : events) {
    if (event.kind == Kind::api || event.kind == Kind::range) continue;
    streams[event.stream][event.start_us] = &event;
  }

  std::map<std::pair<std::string, std::string>, KernelPair> pairs;
  for (const auto& [number, line] : streams) {
    const ProfiledEvent* before = nullptr;
    for (const auto& [start, event] : line) {
      if (before != nullptr && before->kind == Kind::kernel && event->kind == Kind::kernel) {
        KernelPair& pair = pairs[{before->name, event->name}];
        pair.first = before->name;
        pair.second = event->name;
        pair.times += 1;
        pair.total_us += before->duration_us + event->duration_us;
      }
      before = event;
    }
  }

  std::vector<KernelPair> sorted;
  for (const auto& [names, pair] : pairs) sorted.push_back(pair);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.total_us > b.total_us; });
  return sorted;
}

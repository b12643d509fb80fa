#include "trace.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "toolkit/profiler/chrome_trace.h"

void export_trace(const std::function<void()>& program, const std::filesystem::path& file) {
  rooflab::Schedule schedule;
  schedule.wait = 1;
  schedule.warmup = 2;
  schedule.active = 3;
  const rooflab::Profile seen = rooflab::profile(program, schedule);
  std::ofstream out(file);
  out << rooflab::chrome_trace(seen);
}

std::vector<KernelPair> neighbours(const std::vector<ProfiledEvent>& events) {
  // What ran on each stream, in the order of its starts.
  std::map<std::uint64_t, std::map<double, const ProfiledEvent*>> streams;
  for (const ProfiledEvent& event : events) {
    if (rooflab::is_device_work(event)) streams[event.stream][event.start_us] = &event;
  }

  std::map<std::pair<std::string, std::string>, KernelPair> pairs;
  for (const auto& [stream, line] : streams) {
    const ProfiledEvent* before = nullptr;
    for (const auto& [start, event] : line) {
      const bool is_kernel = event->kind == ProfiledEvent::Kind::kernel;
      if (before != nullptr && is_kernel) {
        KernelPair& pair = pairs[{before->name, event->name}];
        pair.first = before->name;
        pair.second = event->name;
        ++pair.times;
        pair.total_us += before->duration_us + event->duration_us;
      }
      before = is_kernel ? event : nullptr;
    }
  }

  std::vector<KernelPair> list;
  for (const auto& [names, pair] : pairs) list.push_back(pair);
  std::ranges::stable_sort(
      list, [](const KernelPair& a, const KernelPair& b) { return a.total_us > b.total_us; });
  return list;
}

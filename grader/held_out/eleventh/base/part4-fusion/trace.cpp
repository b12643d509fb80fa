#include "trace.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "toolkit/profiler/chrome_trace.h"

void export_trace(const std::function<void()>& program, const std::filesystem::path& file) {
  const rooflab::Schedule schedule{1, 2, 3};
  const rooflab::Profile seen = rooflab::profile(program, schedule);
  std::ofstream out(file);
  out << rooflab::chrome_trace(seen);
}

std::vector<KernelPair> neighbours(const std::vector<ProfiledEvent>& events) {
  // The device events of each stream, by their start.
  std::map<std::uint64_t, std::map<double, const ProfiledEvent*>> streams;
  for (const ProfiledEvent& event : events) {
    if (rooflab::is_device_work(event)) streams[event.stream][event.start_us] = &event;
  }
  std::map<std::pair<std::string, std::string>, KernelPair> found;
  for (const auto& [stream, row] : streams) {
    const ProfiledEvent* before = nullptr;
    for (const auto& [start, event] : row) {
      const bool both = before != nullptr && before->kind == ProfiledEvent::Kind::kernel &&
                        event->kind == ProfiledEvent::Kind::kernel;
      if (both) {
        KernelPair& pair = found[{before->name, event->name}];
        pair.first = before->name;
        pair.second = event->name;
        pair.times += 1;
        pair.total_us += before->duration_us + event->duration_us;
      }
      before = event;
    }
  }
  std::vector<KernelPair> list;
  for (const auto& [names, pair] : found) list.push_back(pair);
  // The map is in the order of the names already.
  std::ranges::stable_sort(list, std::ranges::greater(), &KernelPair::total_us);
  return list;
}

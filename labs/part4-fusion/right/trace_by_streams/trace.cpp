#include "trace.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "toolkit/profiler/chrome_trace.h"

void export_trace(const std::function<void()>& program, const std::filesystem::path& file) {
  rooflab::Profiler profiler({1, 2, 3});
  for (int i = 0; i < 6; ++i) {
    program();
    profiler.step();
  }
  const std::string text = rooflab::chrome_trace(profiler.finish());
  std::FILE* out = std::fopen(file.c_str(), "w");
  if (out == nullptr) return;
  std::fwrite(text.data(), 1, text.size(), out);
  std::fclose(out);
}

std::vector<KernelPair> neighbours(const std::vector<ProfiledEvent>& events) {
  std::vector<const ProfiledEvent*> in_time;
  for (const ProfiledEvent& event : events) {
    if (event.kind != ProfiledEvent::Kind::api && event.kind != ProfiledEvent::Kind::range) {
      in_time.push_back(&event);
    }
  }
  std::sort(in_time.begin(), in_time.end(), [](const ProfiledEvent* a, const ProfiledEvent* b) {
    return a->start_us < b->start_us;
  });
  std::map<std::uint64_t, const ProfiledEvent*> last;  // of each stream
  std::vector<KernelPair> pairs;
  for (const ProfiledEvent* event : in_time) {
    const ProfiledEvent* before = last[event->stream];
    last[event->stream] = event;
    if (before == nullptr || before->kind != ProfiledEvent::Kind::kernel ||
        event->kind != ProfiledEvent::Kind::kernel) {
      continue;
    }
    auto found = std::find_if(pairs.begin(), pairs.end(), [&](const KernelPair& pair) {
      return pair.first == before->name && pair.second == event->name;
    });
    if (found == pairs.end()) found = pairs.insert(found, {before->name, event->name, 0, 0.0});
    ++found->times;
    found->total_us += before->duration_us + event->duration_us;
  }
  std::sort(pairs.begin(), pairs.end(), [](const KernelPair& a, const KernelPair& b) {
    if (a.total_us != b.total_us) return a.total_us > b.total_us;
    return a.first != b.first ? a.first < b.first : a.second < b.second;
  });
  return pairs;
}

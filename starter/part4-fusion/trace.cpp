#include "trace.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <tuple>

#include "toolkit/profiler/chrome_trace.h"
#include "toolkit/todo.h"

void export_trace(const std::function<void()>& program, const std::filesystem::path& file) {
  (void)program;
  (void)file;
  rooflab::todo("record the program with rooflab::profile, and write rooflab::chrome_trace of it");
}

std::vector<KernelPair> neighbours(const std::vector<ProfiledEvent>& events) {
  (void)events;
  rooflab::todo("sort device events by stream and start: who stands side by side?");
}

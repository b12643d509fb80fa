#include "grader/cli/class_progress.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <iostream>

#include "grader/report/text.h"

namespace rooflab {
namespace {

// A signal handler can reach nothing else.
std::atomic<bool> stop_requested =
    false;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int signal) {
  stop_requested = true;
  ::signal(signal, SIG_DFL);
}

std::string bar(std::size_t done, std::size_t total) {
  constexpr std::size_t kWidth = 24;
  const std::size_t full = total == 0 ? kWidth : done * kWidth / total;
  return fmt::format("[{}{}]", std::string(full, '#'), std::string(kWidth - full, '.'));
}

std::string duration(double seconds) {
  const auto whole = std::lround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

ClassProgress::ClassProgress() {
  stop_requested = false;
  ::signal(SIGINT, on_signal);
  ::signal(SIGTERM, on_signal);
}

ClassProgress::~ClassProgress() {
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
}

void ClassProgress::say(const std::string& line) {
  line_.clear();
  std::cout << one_line(line) << '\n' << std::flush;
  if (!last_.empty()) line_.show(last_);
}

void ClassProgress::progress(const BatchProgress& progress) {
  last_ = fmt::format("{} {} {} of {}{}", bar(progress.done, progress.total), progress.stage,
                      progress.done, progress.total,
                      progress.left_s && progress.done < progress.total
                          ? ", about " + duration(*progress.left_s) + " left"
                          : "");
  line_.show(last_);
}

bool ClassProgress::stop() { return stop_requested; }

}  // namespace rooflab

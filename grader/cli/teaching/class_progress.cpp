#include "grader/cli/teaching/class_progress.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
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

constexpr std::chrono::minutes kBetweenLines(1);

std::string bar(std::size_t done, std::size_t total) {
  constexpr std::size_t kWidth = 24;
  const std::size_t full = total == 0 ? kWidth : done * kWidth / total;
  return fmt::format("[{}{}]", std::string(full, '#'), std::string(kWidth - full, '.'));
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
  const std::string words = progress_words(progress);
  last_ = bar(progress.done, progress.total) + " " + words;
  line_.show(last_);
  const auto now = Clock::now();
  if (line_.is_terminal() || now - told_ < kBetweenLines) return;
  told_ = now;
  std::cout << words << '\n' << std::flush;
}

bool ClassProgress::stop() { return stop_requested; }

}  // namespace rooflab

#include "grader/cli/progress_line.h"

#include <unistd.h>

#include <iostream>

namespace rooflab {
namespace {

constexpr std::size_t kWidest = 78;
constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::keep(const std::string& text) {
  const bool on_terminal = ::isatty(STDERR_FILENO) == 1;
  std::cerr << (on_terminal ? kEraseLine : "") + text + '\n' << std::flush;
}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const std::string& text) {
  if (!terminal_) return;
  std::cerr << kEraseLine << text.substr(0, kWidest) << std::flush;
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) std::cerr << kEraseLine << std::flush;
  shown_ = false;
}

}  // namespace rooflab

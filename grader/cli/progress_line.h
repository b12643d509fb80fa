#pragma once

#include <string>

namespace rooflab {

/// One line on stderr that tells what goes on, overwritten each time; silent where stderr is no
/// terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text);
  bool is_terminal() const { return terminal_; }
  /// Leaves an empty line for what comes next.
  void clear();
  /// A line that stays, terminal or not; in place of one that goes on.
  static void keep(const std::string& text);

 private:
  bool terminal_;
  bool shown_ = false;
};

}  // namespace rooflab

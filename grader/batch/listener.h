#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace rooflab {

/// How far a batch is.
struct BatchProgress {
  std::string stage;  ///< "grading"
  std::size_t done = 0;
  std::size_t total = 0;
  std::optional<double> left_s;  ///< about how long it will still take, once that can be told
};

/// "grading, 12 of 33, about 4 min left".
std::string progress_words(const BatchProgress& progress);

/// Hears of a batch while it goes on.
class BatchListener {
 public:
  virtual ~BatchListener() = default;
  /// Something that somebody should know: one line, safe for a terminal.
  virtual void say(const std::string& line) = 0;
  virtual void progress(const BatchProgress& progress) = 0;
  /// Whether the batch should stop as soon as it can; what is graded by then is kept.
  virtual bool stop() = 0;
};

}  // namespace rooflab

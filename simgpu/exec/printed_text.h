#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace simgpu {

/// What a kernel prints, up to a length; what comes beyond is dropped.
class PrintedText {
 public:
  /// @param most bytes
  explicit PrintedText(std::size_t most) : most_(most) {}

  void append(const std::string& text) {
    if (!is_full()) text_.append(text, 0, most_ - text_.size());
  }
  bool is_full() const { return text_.size() >= most_; }
  void clear() { text_.clear(); }
  std::string take() { return std::move(text_); }

 private:
  const std::size_t most_;
  std::string text_;
};

}  // namespace simgpu

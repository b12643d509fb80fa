#pragma once

#include <exception>
#include <optional>
#include <string>

#include "grader/spec/files.h"

namespace rooflab {

/// Steps that do not need each other: one that fails costs itself alone.
class Attempts {
 public:
  /// Whether the step was done.
  template <typename Step>
  bool make(const Step& step) {
    try {
      step();
      return true;
    } catch (const std::exception& error) {
      if (!first_error_) first_error_ = error.what();
      return false;
    }
  }

  /// @throws FileError for the first step that failed
  void end() const {
    if (first_error_) throw FileError(*first_error_);
  }

 private:
  std::optional<std::string> first_error_;
};

}  // namespace rooflab

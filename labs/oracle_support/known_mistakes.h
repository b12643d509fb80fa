#pragma once

#include <string>
#include <vector>

#include "grader/contract/oracle.h"

namespace rooflab {

/// Known mistakes that change something: one that gives what is right in this case, such as a
/// window off by one where no window is, cannot be told and is left out. So is one whose every
/// difference is a NaN or an infinity: too many mistakes end there to tell which one did.
class Mistakes {
 public:
  explicit Mistakes(std::vector<Expected> right) : right_(std::move(right)) {}

  void add(Code code, const std::string& cause, const std::string& advice,
           std::vector<Expected> outputs);
  /// One that is known by where it leaves no finite number: exponentials that overflow.
  void add_not_finite(Code code, const std::string& cause, const std::string& advice,
                      std::vector<Expected> outputs);
  std::vector<KnownMistake> take() { return std::move(mistakes_); }

 private:
  void add_if(Code code, const std::string& cause, const std::string& advice,
              std::vector<Expected> outputs, bool (*counts)(double value));

  std::vector<Expected> right_;
  std::vector<KnownMistake> mistakes_;
};

}  // namespace rooflab

#pragma once

#include <functional>
#include <string>

namespace rooflab {

/// One step of opening a real GPU: what was found, or why it cannot be used.
struct OpeningStep {
  std::string name;  ///< "driver", "shared memory"
  bool good = false;
  std::string text;    ///< what was found; else the reason
  std::string remedy;  ///< what to do about it
};

/// "reason; remedy" of a DeviceError, taken apart; the remedy is empty where it says none.
struct OpeningRefusal {
  std::string reason;
  std::string remedy;
};
OpeningRefusal refusal_in(const std::string& message);

/// Takes the steps of an opening, and tells of each.
class OpeningSteps {
 public:
  explicit OpeningSteps(std::function<void(const OpeningStep&)> tell) : tell_(std::move(tell)) {}

  /// @param step does it, and returns what it found @throws DeviceError as `step` does
  void take(const std::string& name, const std::function<std::string()>& step) const;

 private:
  std::function<void(const OpeningStep&)> tell_;
};

}  // namespace rooflab

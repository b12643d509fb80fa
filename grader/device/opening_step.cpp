#include "grader/device/opening_step.h"

#include "grader/device/device.h"
#include "grader/sandbox/sandbox.h"

namespace rooflab {

OpeningRefusal refusal_in(const std::string& message) {
  const std::size_t split = message.rfind("; ");
  if (split == std::string::npos) return {message, ""};
  return {message.substr(0, split), message.substr(split + 2)};
}

void OpeningSteps::take(const std::string& name, const std::function<std::string()>& step) const {
  const auto tell_of_failure = [&](const std::string& message) {
    const OpeningRefusal refusal = refusal_in(message);
    if (tell_) tell_({name, false, refusal.reason, refusal.remedy});
  };
  try {
    const std::string found = step();
    if (tell_) tell_({name, true, found, ""});
  } catch (const DeviceError& error) {
    tell_of_failure(error.what());
    throw;
  } catch (const SandboxError& error) {
    tell_of_failure(error.what());
    throw DeviceError(error.what());
  }
}

}  // namespace rooflab

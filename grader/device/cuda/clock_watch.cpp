#include "grader/device/cuda/clock_watch.h"

#include <dlfcn.h>

#include <array>
#include <utility>

namespace rooflab {
namespace {

constexpr int kSuccess = 0;  // NVML_SUCCESS
constexpr int kSmClock = 1;  // NVML_CLOCK_SM

template <typename Pointer>
bool look_up(void* library, const char* name, Pointer& pointer) {
  pointer = reinterpret_cast<Pointer>(dlsym(library, name));
  return pointer != nullptr;
}

}  // namespace

ClockWatch::ClockWatch(const char* library, const std::string& pci_address)
    : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) return;
  int (*init)() = nullptr;
  int (*handle)(const char*, Device*) = nullptr;
  const bool complete = look_up(library_, "nvmlInit_v2", init) &&
                        look_up(library_, "nvmlShutdown", shutdown_) &&
                        look_up(library_, "nvmlDeviceGetHandleByPciBusId_v2", handle) &&
                        look_up(library_, "nvmlDeviceGetClockInfo", clock_info_) &&
                        look_up(library_, "nvmlSystemGetDriverVersion", driver_version_) &&
                        // By its name since release 535, or by the one before.
                        (look_up(library_, "nvmlDeviceGetCurrentClocksEventReasons", reasons_) ||
                         look_up(library_, "nvmlDeviceGetCurrentClocksThrottleReasons", reasons_));
  if (!complete || init() != kSuccess) {
    shutdown_ = nullptr;
    return;
  }
  if (handle(pci_address.c_str(), &device_) != kSuccess) device_ = nullptr;
}

ClockWatch::ClockWatch(ClockWatch&& other) noexcept
    : library_(std::exchange(other.library_, nullptr)),
      device_(std::exchange(other.device_, nullptr)),
      shutdown_(std::exchange(other.shutdown_, nullptr)),
      clock_info_(other.clock_info_),
      reasons_(other.reasons_),
      driver_version_(other.driver_version_) {}

ClockWatch::~ClockWatch() {
  if (shutdown_ != nullptr) shutdown_();
  if (library_ != nullptr) dlclose(library_);
}

void ClockWatch::look(Sample& sample) const {
  if (!works()) return;
  unsigned mhz = 0;
  unsigned long long reasons = 0;
  sample.sm_mhz = clock_info_(device_, kSmClock, &mhz) == kSuccess ? mhz : 0;
  sample.throttled_by =
      reasons_(device_, &reasons) == kSuccess ? static_cast<std::int64_t>(reasons) : 0;
}

void* ClockWatch::function(const char* name) const {
  return works() ? dlsym(library_, name) : nullptr;
}

std::string ClockWatch::driver() const {
  std::array<char, 96> text{};
  if (!works() || driver_version_(text.data(), text.size() - 1) != kSuccess) return {};
  return text.data();
}

}  // namespace rooflab

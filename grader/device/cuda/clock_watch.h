#pragma once

#include <string>

#include "grader/device/cuda/sample.h"

namespace rooflab {

/// Reads clocks and the reasons for low ones from NVIDIA's management library (NVML), where there
/// is one. It only reads: nothing of the GPU is set.
class ClockWatch {
 public:
  ClockWatch() = default;  ///< watches nothing
  /// @param library "libnvidia-ml.so.1"
  /// @param pci_address of the GPU to watch: "0000:65:00.0"
  ClockWatch(const char* library, const std::string& pci_address);
  ~ClockWatch();
  ClockWatch(const ClockWatch&) = delete;
  ClockWatch& operator=(const ClockWatch&) = delete;
  ClockWatch(ClockWatch&& other) noexcept;
  ClockWatch& operator=(ClockWatch&&) = delete;

  bool works() const { return device_ != nullptr; }
  /// Fills in clock and reasons as they are now; zeros where they are not told.
  void look(Sample& sample) const;
  /// "580.82.07"; empty when NVML does not say.
  std::string driver() const;

  using Device = void*;
  /// The GPU, for other functions of the library; null when it does not work.
  Device device() const { return device_; }
  /// Another function of the library, as dlsym finds it; null when it has none.
  void* function(const char* name) const;

 private:
  void* library_ = nullptr;
  Device device_ = nullptr;
  int (*shutdown_)() = nullptr;
  int (*clock_info_)(Device, int, unsigned*) = nullptr;
  int (*reasons_)(Device, unsigned long long*) = nullptr;
  int (*driver_version_)(char*, unsigned) = nullptr;
};

}  // namespace rooflab

#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "grader/device/cuda/sample.h"
#include "grader/device/device.h"
#include "specs/calibration.h"

namespace rooflab {

/// A GPU that could not be calibrated: why, and what to do.
class CalibrationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct CalibrationSetup {
  std::filesystem::path library = {};  ///< build/lib/grader/calibrate.so
  std::string tool = {};               ///< version of this program
  std::string date = {};               ///< "2026-03-14"
  std::function<void(const std::string&)> progress =
      {};  ///< one line of what goes on; may be empty
};

/// Measures all quantities that the GPU has, each by a run of its own.
/// @throws CalibrationError when a run fails, or what came of them contradicts physics.
gpu_spec::Calibration measure_peaks(Device& device, const CalibrationSetup& setup);

/// What a GPU does under load, for who times something else on it.
struct GpuUnderLoad {
  std::string driver = {};  ///< "580.82.07"; empty where unknown
  bool watched = false;     ///< the clock was
  double sm_mhz = 0;        ///< median clock under FMAs in registers
};
/// Takes some seconds on a real GPU. @throws CalibrationError
GpuUnderLoad look_under_load(Device& device, const CalibrationSetup& setup);

/// One quantity from what the guest sent: its values are held to their form and to limits.
/// @throws CalibrationError
gpu_spec::CalibratedPeak peak_from(const std::string& quantity, const Values& results);

/// "quantity, data sheet, measured, spread, ratio", as a table for the terminal.
std::string comparison_table(const gpu_spec::Calibration& calibration,
                             const gpu_spec::GpuSpec& gpu);

}  // namespace rooflab

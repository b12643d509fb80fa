#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "specs/gpu_spec.h"

namespace gpu_spec {

/// One quantity as a calibration found it. Values are in the unit of `unit_of(quantity)`.
struct CalibratedPeak {
  std::string quantity = {};  ///< "dram_read", "fp32", "bf16_tensor", "launch" …
  double value = 0;           ///< from the median time of the samples
  double spread = 0;          ///< half the distance of the quartiles
  int samples = 0;            ///< that counted
  int dropped = 0;            ///< taken while the GPU was throttled by heat or by a fault
  double sm_mhz = 0;          ///< median clock while it was measured; 0: not watched
  std::string how = {};       ///< which kernel was the fastest, with which sizes
};

/// The peaks of one GPU as its own kernels reached them, beside those of its data sheet.
/// docs/design/calibration.md says how they are taken and what they are used for.
struct Calibration {
  std::string gpu = {};     ///< id of the data-sheet specification
  std::string kind = {};    ///< "measured" on a real GPU, "modelled" on a simulated one
  std::string device = {};  ///< as the driver calls it, "NVIDIA A100-PCIE-40GB"
  std::string uuid = {};    ///< of that very GPU, "GPU-8c4d…"; empty for a simulated one
  std::string driver = {};  ///< "580.82.07"; empty where unknown
  std::string tool = {};    ///< version of the program that measured
  std::string date = {};    ///< "2026-03-14"
  bool watched = false;     ///< clocks and throttling were watched
  std::vector<CalibratedPeak> peaks = {};

  /// nullptr when that quantity was not measured.
  const CalibratedPeak* find(const std::string& quantity) const;
};

/// A kind of quantity that calibrations know.
struct Quantity {
  const char* name;    ///< as in files
  const char* title;   ///< as people say it, "DRAM, reading"
  const char* unit;    ///< "GB/s", "TFLOP/s", "us"
  double scale;        ///< of the unit, in B/s, FLOP/s or us
  double most;         ///< of the data sheet; more contradicts physics, or the data sheet is wrong
  bool follows_clock;  ///< a card that clocks higher than its data sheet says reaches more
};

/// All quantities, in the order of reports.
const std::vector<Quantity>& quantities();
/// @throws SpecError when there is none of that name.
const Quantity& quantity_named(const std::string& name);

/// What the data sheet says of a quantity, in its unit; 0 where it says nothing.
double data_sheet_value(const GpuSpec& gpu, const std::string& quantity);

/// Why a calibration cannot be one of `gpu`: not a number, more than physics allows, samples that
/// disagree, another GPU. Empty when nothing speaks against it.
std::string objection_to(const Calibration& calibration, const GpuSpec& gpu);

/// The GPU with the peaks of its calibration in place of the data sheet's, for rooflines. They were
/// taken under load, so no clock has to be allowed for any more. What was not measured stays.
GpuSpec with_peaks_of(const GpuSpec& gpu, const Calibration& calibration);

/// The text of a calibration's file.
std::string to_toml(const Calibration& calibration, const GpuSpec& gpu);

/// Reads one. @throws SpecError naming the file, the line, the key and the remedy.
Calibration load_calibration(const std::filesystem::path& file);

/// Where a calibration is kept beside the specifications of `directory`: a folder of its own, so
/// that nobody takes it for another GPU. "calibrated/a100-8c4d1f20.toml", or
/// "calibrated/a100-simulated.toml".
std::filesystem::path calibration_file(const std::filesystem::path& directory,
                                       const std::string& gpu, const std::string& uuid);

/// The calibrations of one GPU's kind that lie beside the specifications, sorted.
std::vector<std::filesystem::path> calibration_files(const std::filesystem::path& directory,
                                                     const std::string& gpu);

}  // namespace gpu_spec

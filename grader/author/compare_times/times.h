#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Times of the course's kernels as plain values, and the files that keep measured ones.
namespace rooflab::compare_times {

/// Kernels are divided for good, before anything is measured: constants of the time model are
/// chosen by one half and judged by the other.
enum class Half : std::uint8_t { fitting, judging };
inline constexpr Half kHalves[] = {Half::fitting, Half::judging};
const char* name_of(Half half);

/// The rule in words, as it stands in every file.
inline constexpr const char* kHalfRule =
    "bit 32 of the 64-bit FNV-1a hash of a kernel's name: 0 fits, 1 judges";
Half half_of(std::string_view kernel);

/// One timed case of a kernel.
struct CaseTime {
  std::string name;      ///< of the case, "1024^3"
  double time_us = 0;    ///< median of the whole call, caches cold
  double spread_us = 0;  ///< half the distance of the quartiles; 0 when modelled
  /// Of the source and the case's parameters, 16 hexadecimal digits: times of different ones are
  /// not compared.
  std::string digest = {};
};

/// A submission's code for one task.
struct TimedKernel {
  std::string name;  ///< "part1-metrics/gemm_tiled/solution", or the mistake's name at the end
  std::vector<CaseTime> cases = {};
};

/// A kernel that has no times, and why.
struct LeftOut {
  std::string name;
  std::string why;
};

struct Times {
  std::vector<TimedKernel> kernels = {};
  std::vector<LeftOut> left_out = {};
};

/// The folder of a kernel's part, "part1-metrics".
std::string part_of(const std::string& kernel);

/// All of them on one GPU, with what is needed to judge them later.
struct MeasuredTimes {
  std::string gpu = {};     ///< id of its specification
  std::string kind = {};    ///< "measured"; "modelled" for a rehearsal
  std::string device = {};  ///< as the driver calls it
  std::string driver = {};
  std::string tool = {};  ///< version of the grader
  std::string date = {};  ///< "2026-03-14"
  bool clocks_watched = false;
  double sm_mhz_before = 0;  ///< median clock under FMAs, before the first kernel
  double sm_mhz_after = 0;   ///< and behind the last
  Times times = {};
};

/// The text of a file of measured times.
std::string to_toml(const MeasuredTimes& measured);

/// Reads one, strictly: times are numbers above 0, and every kernel is in the half that the rule
/// puts it into. @throws SpecError naming file, line and remedy.
MeasuredTimes load_measured_times(const std::filesystem::path& file);

/// specs/measured/<gpu>/<date>-<first 8 digits of the UUID>.toml
std::filesystem::path measured_file(const std::filesystem::path& root,
                                    const MeasuredTimes& measured, const std::string& uuid);

/// All files of measured times below `root`/specs/measured, sorted.
std::vector<std::filesystem::path> measured_files(const std::filesystem::path& root);

}  // namespace rooflab::compare_times

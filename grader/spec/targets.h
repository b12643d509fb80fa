#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpu_spec {
struct GpuSpec;
}

namespace rooflab {

struct PartSpec;
struct SpeedSpec;

/// What was found of a timed case on one GPU, as shares of its roofline.
struct Reached {
  std::string gpu;             ///< id of its file in specs/gpus
  int compute_capability = 0;  ///< 80 for 8.0
  double naive = 0;            ///< the fastest naive submission; 0: its time says nothing
  double solution = 0;
};

/// Of a part's folder: what its timed cases were found to reach, by GPU. `grader targets` measures
/// it.
inline constexpr const char* kTargetsFile = "targets.toml";

/// What that file holds of one timed case.
struct MeasuredCase {
  std::string sources;           ///< digest of what was measured
  std::vector<Reached> reached;  ///< by the GPUs' ids
};
/// By task and timed case.
using MeasuredTargets = std::map<std::pair<std::string, std::string>, MeasuredCase>;

/// Between which efficiencies the points of a timed case lie.
struct Targets {
  double zero = 0;
  double full = 0;
};

/// The targets that follow from what was reached (docs/design/targets.md, "By GPU"); none where the
/// naive version is so close to the solution that speed would tell nothing.
/// @param elsewhere those of part.toml, for GPUs of which nothing is known
std::optional<Targets> targets_from(const Reached& reached, const Targets& elsewhere);

/// The file of a part's folder; empty where there is none.
/// @throws SpecError naming file, line and remedy.
MeasuredTargets load_targets(const std::filesystem::path& file);

/// The text of that file.
std::string targets_text(const MeasuredTargets& targets);

/// Gives each timed case what the file has of it.
void add_targets(const MeasuredTargets& targets, PartSpec& part);

/// What holds for a timed case on a GPU: its own entry, else that of its compute capability which
/// asks for least; nothing where there is neither.
const Reached* reached_on(const SpeedSpec& speed, const gpu_spec::GpuSpec& gpu);

/// The part as it is graded on a GPU: each timed case has the targets that hold there. What the
/// file says nothing of keeps those of part.toml.
PartSpec with_targets_of(PartSpec part, const gpu_spec::GpuSpec& gpu);

}  // namespace rooflab

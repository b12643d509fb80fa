#include "grader/pipeline/wrapped_index.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "grader/contract/elements.h"
#include "grader/pipeline/too_slow.h"

namespace rooflab {
namespace {

/// A signed index of 32 bits has these many values from 0 on, and an unsigned one.
constexpr std::array<std::uint64_t, 2> kWraps{std::uint64_t{1} << 31, std::uint64_t{1} << 32};

/// Of an output, less than this is certainly less than all of it, whichever blocks ran.
constexpr double kLeastWritten = 0.5;

/// The element from which on no block writes. A grid in any order would have reached what is behind
/// it by one of the blocks that were chosen.
std::optional<std::uint64_t> first_unreached(const Tensor& tensor,
                                             const std::vector<simgpu::ByteRange>& written,
                                             std::uint64_t storing_blocks) {
  constexpr double kChance = 1e-5;
  if (written.empty()) return std::nullopt;
  const std::uint64_t end = written.back().address + written.back().bytes;
  for (const std::uint64_t wrap : kWraps) {
    const double share = static_cast<double>(wrap) / static_cast<double>(tensor.elements());
    const bool is_certain = std::pow(share, static_cast<double>(storing_blocks)) < kChance;
    if (is_certain && end <= wrap * size_of(tensor.type)) return wrap;
  }
  return std::nullopt;
}

bool is_counted_beyond_int(const Tensor& tensor) {
  return tensor.elements() >= static_cast<std::int64_t>(kWraps.front());
}

/// A call that ran whole stored so many bytes.
double stored_bytes(const RunOutcome& outcome) {
  double stored = 0;
  for (const auto& kernel : outcome.activity.kernels) {
    stored += static_cast<double>(kernel.counters.global_store_bytes);
  }
  return stored;
}

WrappedIndex with_last_block(WrappedIndex wrapped, const Tensor& tensor, std::uint64_t address,
                             const simgpu::ChosenBlocks& chosen) {
  wrapped.last_block = chosen.of_grid - 1;
  if (chosen.last_stores_at >= address && chosen.last_stores_at - address < tensor.bytes()) {
    wrapped.last_writes = (chosen.last_stores_at - address) / size_of(tensor.type);
  }
  return wrapped;
}

}  // namespace

std::optional<WrappedIndex> wrapped_index(const Problem& problem, const RunOutcome& outcome) {
  const SettledPart& settled = outcome.settled;
  const bool ran_whole = !is_cut_short(outcome);
  double due = 0;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    if (tensor.role == Role::input) continue;
    // Of what is there before, a call may have to write only some.
    const bool is_due = tensor.role == Role::output;
    if (is_due) due += static_cast<double>(tensor.bytes());
    if (ran_whole && stored_bytes(outcome) < kLeastWritten * due) return WrappedIndex{tensor.name};
    // Of others than chosen blocks nobody knows what the rest does.
    if (i >= settled.of_grid.size() || settled.chosen.of_grid == 0) continue;
    WrappedIndex wrapped{tensor.name};
    const auto unreached = first_unreached(tensor, settled.written[i], settled.chosen.storing);
    const bool is_little = is_due && static_cast<double>(settled.of_grid[i]) <
                                         kLeastWritten * static_cast<double>(tensor.bytes());
    if (!unreached && !is_little) continue;
    wrapped.unwritten = unreached.value_or(0);
    return with_last_block(wrapped, tensor, settled.addresses[i], settled.chosen);
  }
  return std::nullopt;
}

bool counts_beyond_int(const Problem& problem) {
  return std::ranges::any_of(problem.tensors, is_counted_beyond_int);
}

std::optional<LostBlock> lost_block(const Problem& problem, const RunOutcome& outcome) {
  const auto& findings = outcome.activity.findings;
  const auto outside =
      std::ranges::find(findings, simgpu::FindingKind::out_of_bounds, &simgpu::Finding::kind);
  const auto output = std::ranges::find_if(
      problem.tensors, [](const Tensor& tensor) { return tensor.role != Role::input; });
  const auto& kernels = outcome.activity.kernels;
  const auto failed = std::ranges::find(kernels, true, &simgpu::KernelRecord::failed);
  if (outside == findings.end() || output == problem.tensors.end() || failed == kernels.end() ||
      !outside->where.by_thread) {
    return std::nullopt;
  }
  const simgpu::Dim3& grid = failed->grid;
  const simgpu::Dim3& block = outside->where.block;
  const auto number = static_cast<double>(
      block.x + std::uint64_t{grid.x} * (block.y + std::uint64_t{grid.y} * block.z));
  // Where an input is the large one, a block's share of the output says nothing of its place there.
  if (!is_counted_beyond_int(*output)) return LostBlock{block, outside->where.thread, "", 0};
  const double each = static_cast<double>(output->elements()) / static_cast<double>(grid.count());
  return LostBlock{block, outside->where.thread, output->name,
                   static_cast<std::uint64_t>(number * each)};
}

}  // namespace rooflab

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

/// What blocks that were chosen at random do with less than this chance they do not.
constexpr double kChance = 1e-5;

/// A thread seldom writes more elements than this without a loop over the grid.
constexpr std::uint64_t kMostOfAThread = 16;

/// Of an output, less than this is certainly less than all of it, whichever blocks ran.
constexpr double kLeastWritten = 0.5;

bool is_counted_beyond_int(const Tensor& tensor) {
  return tensor.elements() >= static_cast<std::int64_t>(kWraps.front());
}

/// The element from which on no block writes, where an index of 32 bits wraps. A grid in any order
/// would have reached what is behind it by one of the blocks that were chosen, and what is right
/// before it, too.
std::optional<std::uint64_t> first_unreached(const Tensor& tensor,
                                             const std::vector<simgpu::ByteRange>& written,
                                             std::uint64_t storing_blocks) {
  if (written.empty()) return std::nullopt;
  const std::uint64_t end = written.back().address + written.back().bytes;
  for (const std::uint64_t wrap : kWraps) {
    const auto blocks = static_cast<double>(storing_blocks);
    const double share = static_cast<double>(wrap) / static_cast<double>(tensor.elements());
    const double of_wrap =
        static_cast<double>(end) / static_cast<double>(wrap * size_of(tensor.type));
    const bool is_certain = std::pow(share, blocks) < kChance;
    const bool reaches_it = of_wrap <= 1 && std::pow(of_wrap, blocks) >= kChance;
    if (is_certain && reaches_it) return wrap;
  }
  return std::nullopt;
}

/// Whether so many elements are what a count of 32 bits leaves of all of them; 0 where it is
/// negative.
bool is_count_of_32_bits(std::uint64_t written, std::int64_t elements, std::uint64_t tolerance) {
  const auto low = static_cast<std::uint32_t>(elements);
  const auto count = static_cast<std::int32_t>(low);
  const auto is_near = [&](std::uint64_t value) {
    return std::max(written, value) - std::min(written, value) <= tolerance;
  };
  return is_near(low) || is_near(static_cast<std::uint64_t>(std::max(count, 0)));
}

/// What is known of an output of which so many bytes are written, and of the launch that did it.
void explain_little(const Tensor& tensor, std::uint64_t bytes, const RunOutcome& outcome,
                    WrappedIndex& wrapped) {
  const auto& kernels = outcome.activity.kernels;
  const std::uint64_t written = bytes / size_of(tensor.type);
  if (!is_counted_beyond_int(tensor) && kernels.size() != 1) return;
  if (kernels.size() != 1) {
    wrapped.wraps = is_count_of_32_bits(written, tensor.elements(), 0);
    return;
  }
  const std::uint64_t threads = kernels.front().block.count();
  const std::uint64_t all = kernels.front().grid.count() * threads;
  wrapped.wraps = is_counted_beyond_int(tensor) &&
                  is_count_of_32_bits(written, tensor.elements(), threads * kMostOfAThread);
  const std::uint64_t each = all == 0 ? 0 : written / all;
  const bool is_short = each > 0 && each <= kMostOfAThread && written % all == 0 &&
                        written < static_cast<std::uint64_t>(tensor.elements());
  if (wrapped.wraps || !is_short) return;
  wrapped.short_grid = ShortGrid{kernels.front().grid.count(), threads, each};
  wrapped.unwritten = written;
}

/// A call that ran whole stored so many bytes.
double stored_bytes(const RunOutcome& outcome) {
  double stored = 0;
  for (const auto& kernel : outcome.activity.kernels) {
    stored += static_cast<double>(kernel.counters.global_store_bytes);
  }
  return stored;
}

/// An index that wraps leads farther away than one that counts a few elements too many.
bool is_far_outside(const simgpu::Finding& finding) {
  constexpr std::int64_t kNear = 1 << 20;
  return std::ranges::none_of(finding.places, [](const simgpu::ArrayPlace& place) {
    const auto end = static_cast<std::int64_t>(place.bytes);
    return place.space == simgpu::ArraySpace::global && place.offset > -kNear &&
           place.offset < end + kNear;
  });
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
    if (ran_whole && stored_bytes(outcome) < kLeastWritten * due) {
      WrappedIndex wrapped{tensor.name};
      if (due == static_cast<double>(tensor.bytes())) {  // all stores are its own
        explain_little(tensor, static_cast<std::uint64_t>(stored_bytes(outcome)), outcome, wrapped);
      }
      return wrapped;
    }
    // Of others than chosen blocks nobody knows what the rest does.
    if (i >= settled.of_grid.size() || settled.chosen.of_grid == 0) continue;
    WrappedIndex wrapped{tensor.name};
    const auto unreached = first_unreached(tensor, settled.written[i], settled.chosen.storing);
    const bool is_little = is_due && static_cast<double>(settled.of_grid[i]) <
                                         kLeastWritten * static_cast<double>(tensor.bytes());
    if (!unreached && !is_little) continue;
    wrapped.unwritten = unreached.value_or(0);
    wrapped.wraps = unreached.has_value();
    if (!unreached) explain_little(tensor, settled.of_grid[i], outcome, wrapped);
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
  const bool is_far = is_far_outside(*outside);
  // Where an input is the large one, a block's share of the output says nothing of its place there.
  if (!is_counted_beyond_int(*output))
    return LostBlock{block, outside->where.thread, is_far, "", 0};
  const double each = static_cast<double>(output->elements()) / static_cast<double>(grid.count());
  return LostBlock{block, outside->where.thread, is_far, output->name,
                   static_cast<std::uint64_t>(number * each)};
}

}  // namespace rooflab

#include <fmt/format.h>

#include "grader/diagnose/diagnose.h"
#include "grader/diagnose/story.h"

namespace rooflab {
namespace {

constexpr const char* kWraps = "an index of 32 bits wraps beyond 2147483647 elements";
constexpr const char* kHelp =
    "compute counts, indices and byte offsets as std::int64_t, in host code and in the kernel: "
    "blockIdx.x * blockDim.x has 32 bits whatever it is assigned to, so widen one factor first";
constexpr const char* kManyElements = "this case has more elements than an int counts";
constexpr const char* kHelpOfMany =
    "check that counts, indices and byte offsets are std::int64_t, in host code and in the kernel, "
    "and that the grid and its loops reach every element";
constexpr const char* kHelpOfShortGrid =
    "launch as many threads as there are elements, or let each thread go on in steps of all "
    "threads of the grid until the end (a grid-stride loop)";
constexpr const char* kLargest = "this case is as large as the header of the task allows";
constexpr const char* kHelpOfLargest =
    "look for what is sized or counted for smaller arrays: a buffer of a fixed size, an index or a "
    "mask of few bits, a grid with more than 65,535 blocks along y or z";

std::string of_short_grid(const WrappedIndex& wrapped, const ShortGrid& grid) {
  return fmt::format(
      "{}[{}] and what follows is never written: the launch has {} blocks of {} threads, which is "
      "{} "
      "threads, and each writes {}",
      wrapped.tensor, wrapped.unwritten, grid.blocks, grid.threads, grid.blocks * grid.threads,
      grid.each == 1 ? "one element" : fmt::format("{} elements", grid.each));
}

std::string of_unwritten(const WrappedIndex& wrapped) {
  return wrapped.unwritten == 0 ? fmt::format("most of {} is never written", wrapped.tensor)
                                : fmt::format("{}[{}] and what follows is never written",
                                              wrapped.tensor, wrapped.unwritten);
}

}  // namespace

// These stories name elements and blocks in hidden cases, too: the header says how large such a
// case may be, and nothing can be fitted to it.

Diagnostic explain_vast_unwritten(const WrappedIndex& wrapped, bool beyond_int,
                                  const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0403", context);
  if (wrapped.short_grid) {
    story.message = of_short_grid(wrapped, *wrapped.short_grid);
    story.help = kHelpOfShortGrid;
  } else if (!beyond_int) {
    story.message = fmt::format("{}, and {}", kLargest, of_unwritten(wrapped));
    story.help = kHelpOfLargest;
  } else if (wrapped.wraps) {
    story.message = fmt::format("{}: {}", kWraps, of_unwritten(wrapped));
    story.help = kHelp;
  } else {
    story.message = fmt::format("{}, and {}", kManyElements, of_unwritten(wrapped));
    story.help = kHelpOfMany;
  }
  if (wrapped.last_block) {
    const std::string written =
        wrapped.last_writes ? fmt::format("[{}]", *wrapped.last_writes) : "";
    story.evidence.push_back(fmt::format("block {}, the last of the grid, writes {}{}{}",
                                         *wrapped.last_block, written.empty() ? "nothing of " : "",
                                         wrapped.tensor, written));
  }
  if (context.hidden) note_hidden(story);
  return story;
}

void add_vast_cause(Diagnostic& story, bool beyond_int, const std::optional<LostBlock>& lost) {
  if (!beyond_int) {
    story.notes.emplace_back(kLargest);
    if (!names_cause(story)) story.help = kHelpOfLargest;
    return;
  }
  if (!lost || !lost->is_far) {
    story.notes.emplace_back(kManyElements);
    return;
  }
  story.message = fmt::format("{}: {}", kWraps, story.message);
  story.help = kHelp;
  if (lost->tensor.empty()) return;
  // A byte offset of 32 bits wraps before an index does. A block whose share lies below goes over
  // all elements.
  constexpr std::uint64_t kLeastWrapped = std::uint64_t{1} << 29;
  const std::string where =
      lost->share >= kLeastWrapped
          ? fmt::format("the share of its block begins at about {}[{}]", lost->tensor, lost->share)
          : fmt::format("its loop goes on over {}", lost->tensor);
  story.evidence.push_back(fmt::format("block {}, thread {}: {}", coordinates(lost->block),
                                       coordinates(lost->thread), where));
}

}  // namespace rooflab

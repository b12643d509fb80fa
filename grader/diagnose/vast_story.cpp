#include <fmt/format.h>

#include "grader/diagnose/diagnose.h"
#include "grader/diagnose/story.h"

namespace rooflab {
namespace {

constexpr const char* kWraps = "an index of 32 bits wraps beyond 2147483647 elements";
constexpr const char* kHelp =
    "compute counts, indices and byte offsets as std::int64_t, in host code and in the kernel: "
    "blockIdx.x * blockDim.x has 32 bits whatever it is assigned to, so widen one factor first";
constexpr const char* kLargest = "this case is as large as the header of the task allows";
constexpr const char* kHelpOfLargest =
    "look for what is sized or counted for smaller arrays: a buffer of a fixed size, an index or a "
    "mask of few bits, a grid with more than 65,535 blocks along y or z";

}  // namespace

// These stories name elements and blocks in hidden cases, too: the header says how large such a
// case may be, and nothing can be fitted to it.

Diagnostic explain_vast_unwritten(const WrappedIndex& wrapped, bool beyond_int,
                                  const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0403", context);
  story.message = !beyond_int
                      ? fmt::format("{}, and most of {} is never written", kLargest, wrapped.tensor)
                  : wrapped.unwritten == 0
                      ? fmt::format("{}: most of {} is never written", kWraps, wrapped.tensor)
                      : fmt::format("{}: {}[{}] and what follows is never written", kWraps,
                                    wrapped.tensor, wrapped.unwritten);
  if (wrapped.last_block) {
    const std::string written =
        wrapped.last_writes ? fmt::format("[{}]", *wrapped.last_writes) : "";
    story.evidence.push_back(fmt::format("block {}, the last of the grid, writes {}{}{}",
                                         *wrapped.last_block, written.empty() ? "nothing of " : "",
                                         wrapped.tensor, written));
  }
  story.help = beyond_int ? kHelp : kHelpOfLargest;
  if (context.hidden) note_hidden(story);
  return story;
}

void add_vast_cause(Diagnostic& story, bool beyond_int, const std::optional<LostBlock>& lost) {
  if (!beyond_int) {
    story.notes.emplace_back(kLargest);
    if (!names_cause(story)) story.help = kHelpOfLargest;
    return;
  }
  if (!lost) {
    story.notes.emplace_back(
        fmt::format("this case has more elements than an int counts, and {}", kWraps));
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

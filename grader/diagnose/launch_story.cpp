#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "grader/diagnose/diagnose.h"
#include "grader/diagnose/story.h"
#include "simgpu/source/host_calls.h"

namespace rooflab {
namespace {

constexpr std::uint64_t kWarp = 32;

/// One dimension each, a number of blocks as blocks usually have threads, and less than a warp in
/// each.
bool has_thin_blocks(const simgpu::KernelRecord& kernel) {
  constexpr std::uint64_t kUsualBlock = 64;
  const std::uint64_t threads = kernel.block.count(), blocks = kernel.grid.count();
  return threads == kernel.block.x && blocks == kernel.grid.x && threads < kWarp &&
         blocks >= kUsualBlock && blocks % kWarp == 0 && !kernel.failed;
}

/// The launch in the student's files, where just one has the kernel's name.
void add_launch(Diagnostic& story, const std::string& kernel, const std::string& text,
                const DiagnoseContext& context) {
  const std::string name = kernel.substr(0, kernel.find('<'));
  std::optional<Label> launch;
  for (const auto& [file, source] : context.sources) {
    for (const simgpu::HostCall& call : simgpu::host_calls(source)) {
      if (!call.is_launch || call.name != name) continue;
      if (launch) return;
      launch = label_at(file, call.line, 0, text, context);
    }
  }
  if (!launch) return;
  story.file = launch->file;
  story.line = launch->line;
  story.labels.push_back(*launch);
}

}  // namespace

std::optional<Diagnostic> explain_thin_blocks(const simgpu::Activity& activity,
                                              const DiagnoseContext& context) {
  const auto thin = std::ranges::find_if(activity.kernels, has_thin_blocks);
  if (context.hidden || thin == activity.kernels.end()) return std::nullopt;
  const std::uint64_t threads = thin->block.count(), blocks = thin->grid.count();
  const std::string shape =
      fmt::format("{} blocks of {} thread{}", blocks, threads, threads == 1 ? "" : "s");
  Diagnostic story = begin_story("RL0504", context);
  story.message =
      fmt::format("{} runs in {}, and a warp has {}", kernel_name(thin->name), shape, kWarp);
  story.context = "kernel " + kernel_name(thin->name);
  if (!context.case_name.empty()) story.context += ", case " + context.case_name;
  add_launch(story, kernel_name(thin->name), shape, context);
  story.evidence.push_back(fmt::format(
      "{} of the 32 lanes of each warp have no thread; with more data the blocks grow, up to 1024 "
      "threads, and a launch of more fails",
      kWarp - threads));
  story.notes.emplace_back("the results are right, and keep their points");
  story.help =
      "the first number in <<<blocks, threads>>> is that of blocks, the second that of threads in "
      "each: are they swapped?";
  return story;
}

}  // namespace rooflab

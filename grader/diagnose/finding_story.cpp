#include <fmt/format.h>

#include <array>
#include <string_view>

#include "grader/diagnose/diagnose.h"
#include "grader/diagnose/story.h"

namespace rooflab {
namespace {

/// What to do about each finding, and what to know when a real GPU seems to disagree.
struct Advice {
  const char* code;
  const char* help;
  const char* note;
};

constexpr std::array kAdvice{
    Advice{"RL0201", "compare the thread's index with the size before the access, on every path",
           nullptr},
    Advice{"RL0202", "compare the index with the size of the shared array, padding included",
           nullptr},
    Advice{"RL0203", "compare the index with the size of the thread's own array", nullptr},
    Advice{
        "RL0204",
        "a vector access needs an address that is a multiple of its size: check the row length too",
        nullptr},
    Advice{"RL0205", "store to the buffer before reading it: cudaMalloc does not clear memory",
           "an output buffer holds whatever was there before: start the sum in a register, from 0"},
    Advice{"RL0206",
           "every element of the tile must be stored, zeros included, before any thread reads it",
           nullptr},
    Advice{"RL0208", "give the local array a value on every path before reading it", nullptr},
    Advice{
        "RL0209",
        "check that the recursion ends; cudaDeviceSetLimit(cudaLimitStackSize, bytes) before the "
        "launch gives each thread a larger stack",
        nullptr},
    Advice{
        "RL0210",
        "take the pointer on the device, and copy it with cudaMemcpyFromSymbol: the address of a "
        "__device__ function on the host is another one",
        nullptr},
    Advice{"RL0301", "every thread must finish reading a tile before any thread replaces it",
           "a real GPU may pass by luck; this was found by barrier intervals, not by chance"},
    Advice{"RL0302", "a barrier between the store and the read makes the value visible",
           "a real GPU may pass by luck; this was found by barrier intervals, not by chance"},
    Advice{"RL0303", "let one thread store, or give each thread its own place",
           "which value stays is not defined, and may change from run to run"},
    Advice{"RL0304",
           "blocks run in any order: use an atomic operation, or let one block own each element",
           "blocks cannot wait for each other inside one ordinary kernel"},
    Advice{"RL0305",
           "move the barrier out of the condition, so that every thread of the block reaches it",
           "on a real GPU this hangs or silently mixes barriers"},
    Advice{"RL0306", "look at which threads left early, and which barrier the others wait at",
           nullptr},
    Advice{"RL0307", "look for a loop whose variable never reaches its end", nullptr},
    Advice{"RL0308", "check the arguments and the order of the CUDA calls", nullptr},
    Advice{"RL0309", "free what the function allocates, on every path", nullptr},
    Advice{"RL0310",
           "the condition of the assert was false for this thread: print what it depends on",
           nullptr},
    Advice{"RL0311",
           "the kernel gave up on purpose (trap, or unreachable code): see what led there",
           nullptr},
    Advice{"RL0312",
           "write it without this instruction, or run on a real GPU: grader --device cuda",
           nullptr},
};

const Advice* advice_for(const std::string& code) {
  for (const Advice& advice : kAdvice) {
    if (code == advice.code) return &advice;
  }
  return nullptr;
}

/// "thread (0,2), warp 1, reads 4 bytes"; with the block where the two sides are in different ones.
std::string actor(const simgpu::AccessSite& site, bool with_block) {
  return fmt::format("{}thread {}, warp {}, {}",
                     with_block ? fmt::format("block {}, ", coordinates(site.block)) : "",
                     coordinates(site.thread), site.warp, site.action);
}

/// The array's name in "byte 128 of shared array Bs (4096 bytes)"; empty when it has none.
std::string shared_array(const std::string& object) {
  constexpr std::string_view kBefore = "shared array ";
  const std::size_t at = object.find(kBefore);
  if (at == std::string::npos) return {};
  const std::string name = object.substr(at + kBefore.size());
  return name.substr(0, name.find_first_of(" ,"));
}

/// The cause in a student's words where the array is known, else what the simulated GPU says.
std::string cause_of(const simgpu::Finding& finding) {
  const std::string array = shared_array(finding.object);
  if (array.empty()) return finding.message;
  if (finding.code == "RL0301") {
    return fmt::format("`{}` is overwritten while another thread still needs it", array);
  }
  if (finding.code == "RL0302") {
    return fmt::format("`{}` is read before another thread's store to it is ordered", array);
  }
  return finding.message;
}

}  // namespace

Diagnostic explain_finding(const simgpu::Finding& finding, const DiagnoseContext& context,
                           const TensorCheck* effect) {
  Diagnostic story = begin_story(finding.code, context);
  story.message = cause_of(finding);
  if (finding.where.line > 0) {
    story.file = student_path(finding.where.file, context);
    story.line = finding.where.line;
    const bool two_blocks = finding.other && !(finding.other->block == finding.where.block);
    story.labels.push_back(label_at(finding.where.file, finding.where.line, finding.where.column,
                                    actor(finding.where, two_blocks), context));
    if (finding.other && finding.other->line > 0) {
      story.labels.push_back(label_at(finding.other->file, finding.other->line,
                                      finding.other->column, actor(*finding.other, two_blocks),
                                      context));
    }
  }
  if (!finding.kernel.empty()) {
    story.context = fmt::format("kernel {}, block {}", kernel_name(finding.kernel),
                                coordinates(finding.where.block));
  }
  if (!finding.object.empty() && story.message.find(finding.object) == std::string::npos) {
    story.notes.push_back("memory: " + finding.object);
  }
  if (finding.occurrences > 1) {
    story.notes.push_back(
        fmt::format("the same happened {} times at this place", finding.occurrences));
  }
  if (effect != nullptr) add_effect(story, *effect, context);
  if (const Advice* advice = advice_for(finding.code)) {
    if (advice->note != nullptr) story.notes.emplace_back(advice->note);
    story.help = advice->help;
    if (finding.code == "RL0201" &&
        finding.object.find("far from any allocation") != std::string::npos) {
      story.help =
          "is the pointer host memory, or was it never set? else look for an overflow in the index";
    }
  }
  return story;
}

}  // namespace rooflab

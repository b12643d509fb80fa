#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "grader/diagnose/diagnose.h"
#include "grader/diagnose/loop_order.h"
#include "grader/diagnose/story.h"
#include "grader/diagnose/stream_story.h"
#include "simgpu/warp_pairs.h"

namespace rooflab {
namespace {

/// What to do, and what to know when a real GPU seems to disagree; empty where there is nothing.
struct Advice {
  const char* help;
  const char* note;
};

constexpr Advice kReturnedLane{
    "let every lane reach the shuffle, with a neutral value (0 for a sum), instead of returning "
    "early",
    "a lane that has returned has no value to give: what comes back is undefined"};
constexpr Advice kEarlyReturn{
    "let no thread return before it: keep a thread that has nothing to do, and guard its loads and "
    "its store instead",
    ""};
constexpr Advice kMissingLane{
    "launch a multiple of 32 threads, or use the value only where its lane is a thread of the "
    "block",
    "a lane without a thread has no value to give: what comes back is undefined"};
constexpr Advice kLanesApart{
    "take the operation out of the condition, or name in its mask only the lanes that reach it",
    "on a real GPU what it returns is undefined, or the warp hangs"};

/// Whether two threads store to one place: an order between them would only choose whose value is
/// lost.
bool are_both_stores(const simgpu::Finding& finding) {
  return finding.other && finding.where.writes && finding.other->writes;
}

/// Whether both sides are one line of the source.
bool is_one_line(const simgpu::Finding& finding) {
  return finding.other && finding.where.line > 0 && finding.where.line == finding.other->line &&
         finding.where.file == finding.other->file;
}

/// Whether the line reads what it names, changes it and stores it back: `*sum += x`.
bool updates_in_place(const std::string& line) {
  return std::ranges::any_of(std::array{"+=", "-=", "++", "--"}, [&](const char* update) {
    return line.find(update) != std::string::npos;
  });
}

/// Whether a store to shared memory and a read of it lack an order.
bool is_order_of_shared(const simgpu::Finding& finding) {
  return finding.code == "RL0301" || finding.code == "RL0302";
}

/// What helps against this use of memory without order more than what its code says; null when
/// nothing does.
const char* help_for_race(const simgpu::Finding& finding, const DiagnoseContext& context) {
  const bool is_global = finding.code == "RL0304" || finding.code == "RL0316";
  if (is_global && is_one_line(finding) &&
      updates_in_place(label_at(finding.where.file, finding.where.line, 0, "", context).excerpt)) {
    return finding.code == "RL0316"
               ? "where all these threads add to one element, use atomicAdd(address, value): it "
                 "reads, adds and stores in one step. Where each adds another thread's element to "
                 "its own, put __syncthreads() between reading and storing"
               : "blocks that add to one element need atomicAdd(address, value), which reads, adds "
                 "and stores in one step; or let each block store its own result, and add these up "
                 "in a second kernel";
  }
  if (is_order_of_shared(finding) && is_within_warp(finding)) {
    return "__syncwarp() between the two accesses orders the threads of a warp, and only threads "
           "of one warp were found to meet here; where those of other warps use the same elements, "
           "it takes __syncthreads()";
  }
  if (!are_both_stores(finding)) return nullptr;
  if (finding.code == "RL0304") {
    return "let one block own each element: is the index the same in two blocks, or does a block "
           "go on into what the next one computes? An atomic operation helps only where the values "
           "are to be added up";
  }
  if (finding.code != "RL0316") return nullptr;
  return is_one_line(finding)
             ? "several threads run this line for the same element: let one of them store, or "
               "give each thread an element of its own"
             : "let one of the two store the element, or put __syncthreads() between them "
               "where the later value is the one that counts";
}

/// A line that adds to memory that nothing has written: the sum starts from whatever is there.
std::optional<Advice> advice_for_sum(const simgpu::Finding& finding,
                                     const DiagnoseContext& context) {
  const std::string line = label_at(finding.where.file, finding.where.line, 0, "", context).excerpt;
  if (line.find("atomic") != std::string::npos) {
    return Advice{
        "set the sum to 0 before the launch: cudaMemset(pointer, 0, bytes); cudaMalloc "
        "does not clear memory",
        ""};
  }
  if (!updates_in_place(line)) return std::nullopt;
  return Advice{
      "where this line adds to it, set it to 0 before the launch, cudaMemset(pointer, 0, "
      "bytes), or add up in a register that starts at 0 and store once: cudaMalloc does "
      "not clear memory",
      ""};
}

/// By what its code leaves open.
Advice advice_for(const simgpu::Finding& finding, const DiagnoseContext& context) {
  using enum simgpu::FindingDetail;
  const char* const note = finding.code.note();
  if (finding.returns_early && finding.detail != returned_lane) return {kEarlyReturn.help, note};
  switch (finding.detail) {
    case returned_lane:
      return kReturnedLane;
    case missing_lane:
      return kMissingLane;
    case lanes_apart:
      return kLanesApart;
    case lacks_fence:
      return {
          "__threadfence() before the atomic makes what the block has done visible to whoever "
          "sees the atomic; the block that reads needs one behind its own atomic",
          note};
    case lacks_function:
      return {"write it without this function, or run on a real GPU: grader --device cuda", note};
    case far_from_memory:
      return {
          "is the pointer host memory, or was it never set? else look for an overflow in the "
          "index",
          note};
    case past_dynamic_shared:
      return {
          "the third launch argument counts bytes: is it the number of elements times sizeof, and "
          "are there as many elements as the kernel uses?",
          note};
    case tile:
      return {
          "bring the tile to shared memory first, in rows that are padded by whole 16 bytes: 8 "
          "halves or 4 floats",
          note};
    case operand_without_memory:
      return {
          "is the pointer device memory, and are the arguments in their order? With "
          "CUBLAS_POINTER_MODE_DEVICE, alpha, beta and results are read there, too",
          note};
    case operand_too_long:
      return {
          "to cuBLAS a matrix is column-major: its leading dimension is the distance between "
          "two columns, which is the length of a row of yours",
          note};
    case result_added_to:
      return {
          "with beta = 0 cuBLAS writes the result and does not read it first; another beta is for "
          "what an earlier call has left there",
          ""};
    case beyond_any_memory:
      return {
          "where does the size come from? Print it right before the call. It looks like a variable "
          "that was never set, one that has ended before it is used (a lambda that captured it by "
          "reference, a pointer to a local), or a product or difference that left its type",
          ""};
    case none:
    case past_end:
    case operand_unwritten:
      break;
  }
  if (finding.code == "RL0319" && finding.kernel.empty()) {
    return {
        "look for the loop on the host that launches, copies or queries: its condition has to "
        "become false, errors included",
        note};
  }
  if (finding.code == "RL0205" && finding.kernel.empty() && finding.detail == none) {
    return {
        "does a thread store every element that is copied? Where the size is no multiple of the "
        "block, the number of blocks has to be rounded up",
        ""};
  }
  if (finding.code == "RL0205") {
    if (const auto advice = advice_for_sum(finding, context)) return *advice;
  }
  const char* const closer = help_for_race(finding, context);
  return {closer != nullptr ? closer : finding.code.help(), note};
}

/// "thread (0,2), warp 1, reads 4 bytes"; with the block where the two sides are in different ones.
/// Indices of a hidden case tell its sizes.
std::string actor(const simgpu::AccessSite& site, bool with_block, bool hidden) {
  if (hidden || !site.by_thread) return site.action;
  if (!site.knows_thread) {
    return fmt::format("a thread of block {} {}", coordinates(site.block), site.action);
  }
  const bool has_warp = site.warp != simgpu::kUnknownWarp;
  return fmt::format(
      "{}thread {}, {}{}", with_block ? fmt::format("block {}, ", coordinates(site.block)) : "",
      coordinates(site.thread), has_warp ? fmt::format("warp {}, ", site.warp) : "", site.action);
}

/// Whether the array's name says it better than its place: one in shared memory that is written too
/// early or too late.
bool goes_by_name(const simgpu::Finding& finding) {
  return !finding.name.empty() && is_order_of_shared(finding);
}

/// The cause in a student's words where the array is known, else what the device says. A name may
/// be chosen by a hidden case's sizes.
std::string cause_of(const simgpu::Finding& finding, bool hidden) {
  if (hidden) return finding.code.meaning();
  if (!goes_by_name(finding)) return finding.message;
  return fmt::format("`{}` is {}", finding.name,
                     finding.code == "RL0301"
                         ? "overwritten while another thread still needs it"
                         : "read before another thread's store to it is ordered");
}

/// Whether the cause leaves out what the finding says of the memory.
bool has_more_to_say(const simgpu::Finding& finding) {
  const bool names_no_place = finding.code == "RL0204" || finding.code == "RL0309";
  return !finding.object.empty() && (goes_by_name(finding) || names_no_place);
}

/// The place in the kernel itself that an access comes from: its own, or the outermost call's.
std::pair<std::string, std::uint32_t> place_in_kernel(const simgpu::AccessSite& site) {
  if (site.inlined_at.empty()) return {site.file, site.line};
  return {site.inlined_at.back().file, site.inlined_at.back().line};
}

/// A barrier stands between the store and the read of it: then the store is the next iteration's.
void tell_next_iteration(Diagnostic& story, const simgpu::Finding& finding,
                         const DiagnoseContext& context) {
  if (finding.code != "RL0302" || !finding.other || !finding.other->writes) return;
  const auto [file, read_line] = place_in_kernel(finding.where);
  const auto [store_file, store_line] = place_in_kernel(*finding.other);
  const auto source = context.sources.find(student_path(file, context));
  if (store_file != file || source == context.sources.end()) return;
  const auto loop_with = [&, store = store_line, read = read_line](const char* function) {
    return loop_without_last_barrier(source->second, store, read, function);
  };
  std::string barrier = "__syncthreads";
  auto loop = loop_with("__syncthreads");
  if (!loop && is_within_warp(finding)) {
    barrier = "__syncwarp";
    loop = loop_with("__syncwarp");
  }
  if (!loop) return;
  if (story.labels.size() == 2) story.labels.back().text += ", in the next iteration";
  story.help = fmt::format(
      "a barrier stands between the two, so the store is the next iteration's: put {}() at the end "
      "of the loop of line {}, too, so that all have read before any thread stores again",
      barrier, *loop);
}

/// Whether it is about a matrix of a product of cuBLAS.
bool names_matrix_of_cublas(const simgpu::Finding& finding) {
  using enum simgpu::FindingDetail;
  const bool is_operand = finding.detail == operand_without_memory ||
                          finding.detail == operand_too_long || finding.detail == operand_unwritten;
  return is_operand && (finding.name == "A" || finding.name == "B");
}

/// What is known beyond the cause and the place; all of it would tell the sizes of a hidden case.
void add_details(Diagnostic& story, const simgpu::Finding& finding,
                 const DiagnoseContext& context) {
  if (context.hidden) {
    note_hidden(story);
    return;
  }
  // Work on streams and nodes of graphs race as a whole.
  if (!finding.kernel.empty() && finding.where.by_thread) {
    story.context += ", block " + coordinates(finding.where.block);
  }
  if (has_more_to_say(finding)) story.notes.push_back("memory: " + finding.object);
  for (const simgpu::InlinedCall& call : finding.where.inlined_at) {
    story.notes.push_back(fmt::format("in {}, called at {}:{}",
                                      call.function.empty() ? "a function" : call.function,
                                      student_path(call.file, context), call.line));
  }
  // Of all other findings the device's message says so itself, where it matters.
  const bool has_words_of_ours = goes_by_name(finding) || finding.code == "RL0313";
  if (has_words_of_ours && is_within_warp(finding)) {
    story.notes.emplace_back(
        "both threads are of one warp. Its threads need not run in step: on GPUs from Volta on "
        "(2017) each may be ahead of the others");
  }
  if (finding.detail == simgpu::FindingDetail::past_end) {
    story.notes.emplace_back(
        "memory is named by the nearest array: an index of another one may have led there");
  }
  if (names_matrix_of_cublas(finding)) {
    story.notes.emplace_back(
        "A, B and C are those of cuBLAS's own call: for row-major matrices, where C^T = B^T A^T is "
        "computed, its A is your B and its B is your A");
  }
  if (finding.occurrences > 1) {
    story.notes.push_back(
        fmt::format("the same happened {} times at this place", finding.occurrences));
  }
}

}  // namespace

simgpu::Finding with_cause(const simgpu::Finding& finding,
                           const std::vector<simgpu::Finding>& all) {
  if (finding.code != "RL0301" || !finding.other) return finding;
  const auto found_nothing = [&](const simgpu::Finding& read) {
    return read.code == "RL0206" && read.kernel == finding.kernel &&
           read.where.file == finding.other->file && read.where.line == finding.other->line &&
           read.name == finding.name;
  };
  if (std::ranges::none_of(all, found_nothing)) return finding;
  simgpu::Finding early = finding;
  early.code = "RL0302";
  std::swap(early.where, *early.other);
  return early;
}

Diagnostic explain_finding(const simgpu::Finding& finding, const DiagnoseContext& context,
                           const TensorCheck* effect) {
  if (finding.code == kOffTheStream) return explain_off_the_stream(finding, context);
  Diagnostic story = begin_story(finding.code, context);
  story.message = cause_of(finding, context.hidden);
  if (finding.where.line > 0) {
    story.file = student_path(finding.where.file, context);
    story.line = finding.where.line;
    const bool two_blocks = finding.other && !(finding.other->block == finding.where.block);
    story.labels.push_back(label_at(finding.where.file, finding.where.line, finding.where.column,
                                    actor(finding.where, two_blocks, context.hidden), context));
    if (finding.other && finding.other->line > 0) {
      story.labels.push_back(label_at(finding.other->file, finding.other->line,
                                      finding.other->column,
                                      actor(*finding.other, two_blocks, context.hidden), context));
    }
  }
  for (const simgpu::SourceNote& note : finding.also) {
    if (!context.sources.contains(student_path(note.file, context))) continue;
    story.labels.push_back(label_at(note.file, note.line, 0, note.text, context));
  }
  if (!finding.kernel.empty()) story.context = "kernel " + kernel_name(finding.kernel);
  add_details(story, finding, context);
  if (effect != nullptr) {
    add_effect(story, *effect, context);
  } else if (!context.hidden && !context.case_name.empty()) {
    story.context += fmt::format("{}case {}", story.context.empty() ? "" : ", ", context.case_name);
  }
  const Advice advice = advice_for(finding, context);
  if (*advice.note != '\0') story.notes.emplace_back(advice.note);
  story.help = advice.help;
  tell_next_iteration(story, finding, context);
  return story;
}

}  // namespace rooflab

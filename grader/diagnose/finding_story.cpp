#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "grader/diagnose/diagnose.h"
#include "grader/diagnose/story.h"
#include "grader/diagnose/stream_story.h"

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
    Advice{
        "RL0206",
        "every element of the tile must be stored, zeros included, before any thread reads it; and "
        "rows must be as long, padding included, where they are stored as where they are read",
        nullptr},
    Advice{"RL0208", "give the local array a value on every path before reading it", nullptr},
    Advice{"RL0211", "give the variable a value where it is declared: float sum = 0.0f;",
           "what an unset variable holds differs from one compiler, GPU and call to the next"},
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
    Advice{
        "RL0304",
        "blocks run in any order: let one block own each element; an atomic operation helps only "
        "where their values are to be added up",
        "blocks cannot wait for each other inside one ordinary kernel"},
    Advice{"RL0316",
           "a barrier between the two orders the threads of a block, in global memory too; or let "
           "one thread own each element",
           "warps take turns in any order: a real GPU may pass by luck, this was found by barrier "
           "intervals"},
    Advice{"RL0318",
           "read what the kernel itself has stored through an ordinary load: no __ldg(), no "
           "__restrict__ on a const pointer to it, and no texture",
           "such loads go through a cache that no barrier and no fence empties: a real GPU may "
           "return what was there before the launch"},
    Advice{
        "RL0305",
        "let every thread of the block reach the barrier: move it out of the condition; a thread "
        "with nothing to do goes on to the barrier, too, and only skips its work",
        "on a real GPU this hangs or silently mixes barriers"},
    Advice{"RL0306", "look at which threads left early, and which barrier the others wait at",
           nullptr},
    Advice{"RL0307", "look for a loop whose variable never reaches its end", nullptr},
    Advice{
        "RL0319",
        "check that this loop's variable comes closer to its end in every iteration; if it does, "
        "the kernel computes too much: give each thread one element, and compute nothing twice",
        "nobody knows whether it would have ended: a loop that provably has no end is RL0307"},
    Advice{"RL0308", "check the arguments and the order of the CUDA calls", nullptr},
    Advice{"RL0309", "free what the function allocates, on every path", nullptr},
    Advice{"RL0310",
           "the condition of the assert was false for this thread: print what it depends on",
           nullptr},
    Advice{"RL0311",
           "the kernel gave up on purpose (trap, or unreachable code): see what led there",
           nullptr},
    Advice{"RL0312",
           "write it without what is missing here, or run on a real GPU: grader --device cuda",
           nullptr},
    Advice{"RL0313",
           "let each thread wait for its own copies (__pipeline_wait_prior), then put a barrier in "
           "front of what others copied",
           "on a real GPU the bytes arrive at any time before the wait"},
    Advice{"RL0314", "ask with CUDA_CHECK(cudaGetLastError()) right after the launch", nullptr},
    Advice{
        "RL0315",
        "let the second stream wait for an event behind the work of the first, or use one stream",
        "on a real GPU the two may run at the same time, or not"},
    Advice{"RL0317", "add an edge from the node that has to come first to the other one",
           "on a real GPU nodes that no path connects may run at the same time, or not"},
    Advice{"RL0320",
           "wait for the copy or the kernel before you write to what it reads (an event behind it, "
           "or cudaStreamSynchronize), or give each a buffer of its own",
           "on a real GPU it takes what it finds when it gets there: the old bytes or the new "
           "ones"},
};

/// RL0305 where lanes of one warp wait for each other, and no barrier of the block is there to
/// move.
constexpr Advice kWarpAdvice{
    "RL0305",
    "take the operation out of the condition, or name in its mask only the lanes that reach it",
    "on a real GPU what it returns is undefined, or the warp hangs"};

/// A shuffle, vote, reduction or tile operation rather than a barrier of the block.
bool is_warp_wide(const simgpu::Finding& finding) {
  return finding.message.find("warp-wide operation") != std::string::npos ||
         finding.message.find("A shuffle asks") != std::string::npos ||
         finding.message.find("tile operation") != std::string::npos;
}

/// RL0305 where a shuffle reads from a lane that has left the kernel.
constexpr Advice kReturnAdvice{
    "RL0305",
    "let every lane reach the shuffle, with a neutral value (0 for a sum), instead of returning "
    "early",
    "a lane that has returned has no value to give: what comes back is undefined"};

/// RL0305 where a shuffle reads from a lane of a warp that has fewer threads.
constexpr Advice kPartialWarpAdvice{
    "RL0305",
    "launch a multiple of 32 threads, or use the value only where its lane is a thread of the "
    "block",
    "a lane without a thread has no value to give: what comes back is undefined"};

const Advice* advice_for(const simgpu::Finding& finding) {
  const bool is_of_exited =
      finding.message.find("which has returned from the kernel") != std::string::npos;
  if (finding.code == kReturnAdvice.code && is_of_exited) return &kReturnAdvice;
  if (finding.code == kPartialWarpAdvice.code &&
      finding.message.find("which is no thread of the block") != std::string::npos) {
    return &kPartialWarpAdvice;
  }
  if (finding.code == kWarpAdvice.code && is_warp_wide(finding)) return &kWarpAdvice;
  for (const Advice& advice : kAdvice) {
    if (finding.code == advice.code) return &advice;
  }
  return nullptr;
}

/// "thread (0,2), warp 1, reads 4 bytes"; with the block where the two sides are in different ones.
/// Indices of a hidden case tell its sizes.
std::string actor(const simgpu::AccessSite& site, bool with_block, bool hidden) {
  if (hidden || !site.by_thread) return site.action;
  const bool has_warp = site.warp != simgpu::kUnknownWarp;
  return fmt::format(
      "{}thread {}, {}{}", with_block ? fmt::format("block {}, ", coordinates(site.block)) : "",
      coordinates(site.thread), has_warp ? fmt::format("warp {}, ", site.warp) : "", site.action);
}

/// The array's name in "byte 128 of shared array Bs (4096 bytes)"; empty when it has none.
std::string shared_array(const std::string& object) {
  constexpr std::string_view kBefore = "shared array ";
  const std::size_t at = object.find(kBefore);
  if (at == std::string::npos) return {};
  const std::string name = object.substr(at + kBefore.size());
  return name.substr(0, name.find_first_of(" ,"));
}

/// "just past the end" for "0 bytes past the end".
std::string in_plain_words(std::string text) {
  constexpr std::string_view kCounted = "0 bytes past the end";
  const std::size_t at = text.find(kCounted);
  if (at == std::string::npos || (at > 0 && std::isdigit(text[at - 1]) != 0)) return text;
  text.replace(at, kCounted.size(), "just past the end");
  constexpr std::string_view kAt = "it is at just";
  if (const std::size_t before = text.find(kAt); before != std::string::npos) {
    text.replace(before, kAt.size(), "it is just");
  }
  return text;
}

/// What is used without order, by the code of a race in global memory.
const char* global_race_without_sizes(const std::string& code) {
  if (code == "RL0315")
    return "work on two streams uses the same memory, and nothing orders the two";
  if (code == "RL0316") {
    return "two threads of a block use the same global memory, and nothing orders them";
  }
  if (code == "RL0318") {
    return "a load takes memory to be constant in which the same kernel has stored";
  }
  if (code == "RL0317") {
    return "two nodes of a graph use the same memory, and no path of edges connects them";
  }
  return "two blocks use the same global memory, and nothing orders them";
}

/// Whether a function of a library is missing rather than something within a kernel. Its call has
/// no kernel.
bool lacks_function(const simgpu::Finding& finding) {
  return finding.code == "RL0312" && finding.kernel.empty() &&
         says(finding.message, "the program calls");
}

/// A cause without the sizes and addresses that the simulated GPU puts into its messages.
const char* cause_without_sizes(const simgpu::Finding& finding) {
  using enum simgpu::FindingKind;
  switch (finding.kind) {
    case out_of_bounds:
      return "a memory access is out of bounds";
    case misaligned:
      return "a memory access is not aligned";
    case uninitialized_read:
      return "a thread reads memory that nothing has written before";
    case shared_race:
      return "two threads use the same shared memory, and nothing orders them";
    case global_race:
      return global_race_without_sizes(finding.code);
    case divergent_barrier:
      return "some threads do not reach a barrier or an exchange between lanes";
    case deadlock:
      return "the kernel does not end";
    case too_long:
      return "the kernel takes too long";
    case invalid_api_use:
      return "a call of the CUDA runtime is not right";
    case leak:
      return "device memory was never freed";
    case device_assert:
      return "an assertion failed on the device";
    case trap:
      return "the kernel gave up";
    case unsupported:
      return lacks_function(finding)
                 ? "the program calls a function that the simulated GPU does not have"
                 : "a kernel needs what the simulated GPU does not have";
  }
  return "the kernel is not right";
}

/// The cause in a student's words where the array is known, else what the simulated GPU says. A
/// name may be chosen by a hidden case's sizes.
std::string cause_of(const simgpu::Finding& finding, bool hidden) {
  if (hidden) return cause_without_sizes(finding);
  const std::string array = shared_array(finding.object);
  if (!array.empty() && finding.code == "RL0301") {
    return fmt::format("`{}` is overwritten while another thread still needs it", array);
  }
  if (!array.empty() && finding.code == "RL0302") {
    return fmt::format("`{}` is read before another thread's store to it is ordered", array);
  }
  return in_plain_words(finding.message);
}

/// Whether it is about a matrix of a call of cuBLAS: "cublas_sgemm: A with 16 x 16 elements ...".
bool names_matrix_of_cublas(const simgpu::Finding& finding) {
  const auto has = [&](const char* words) { return says(finding.message, words); };
  const bool is_cublas = finding.kernel.starts_with("cublas") || has("cublas");
  return is_cublas && (has("A with ") || has("B with ") || has("A is read") || has("B is read"));
}

/// Whether the message leaves out what the finding says of the memory.
bool has_more_to_say(const simgpu::Finding& finding, const Diagnostic& story) {
  return !finding.object.empty() &&
         story.message.find(in_plain_words(finding.object)) == std::string::npos;
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
  if (has_more_to_say(finding, story)) {
    story.notes.push_back("memory: " + in_plain_words(finding.object));
  }
  for (const simgpu::InlinedCall& call : finding.where.inlined_at) {
    story.notes.push_back(fmt::format("in {}, called at {}:{}",
                                      call.function.empty() ? "a function" : call.function,
                                      student_path(call.file, context), call.line));
  }
  if (finding.other && finding.other->by_thread && finding.where.by_thread &&
      finding.where.warp == finding.other->warp && finding.where.warp != simgpu::kUnknownWarp &&
      finding.where.block == finding.other->block &&
      finding.kind == simgpu::FindingKind::shared_race && !says(story.message, "since Volta")) {
    story.notes.emplace_back(
        "both threads are of one warp, whose lanes run in any order since Volta; threads of "
        "different warps meet here in the same way");
  }
  if (finding.code == "RL0201" && finding.object.find(" the end of ") != std::string::npos) {
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

bool is_store(const simgpu::AccessSite& site) { return site.action.starts_with("writes"); }

/// Whether two threads store to one place: an order between them would only choose whose value is
/// lost.
bool are_both_stores(const simgpu::Finding& finding) {
  return finding.other && is_store(finding.where) && is_store(*finding.other);
}

/// What helps with this finding more than what its code says; null when nothing does.
const char* closer_help(const simgpu::Finding& finding) {
  if (finding.code == "RL0316" && are_both_stores(finding)) {
    const bool one_line =
        finding.where.file == finding.other->file && finding.where.line == finding.other->line;
    return one_line
               ? "several threads run this line for the same element: let one of them store, or "
                 "give each thread an element of its own"
               : "let one of the two store the element, or put __syncthreads() between them "
                 "where the later value is the one that counts";
  }
  if (finding.code == "RL0319" && finding.kernel.empty()) {
    return "look for the loop on the host that launches, copies or queries: its condition has to "
           "become false, errors included";
  }
  if (finding.code == "RL0304" && says(finding.message, "needs a fence")) {
    return "__threadfence() before the atomic makes what the block has done visible to whoever "
           "sees the atomic; the block that reads needs one behind its own atomic";
  }
  if (finding.code == "RL0304" && are_both_stores(finding)) {
    return "let one block own each element: is the index the same in two blocks, or does a block "
           "go "
           "on into what the next one computes? An atomic operation helps only where the values "
           "are "
           "to be added up";
  }
  if (lacks_function(finding)) {
    return "write it without this function, or run on a real GPU: grader --device cuda";
  }
  if (finding.code == "RL0201" && says(finding.object, "far from any allocation")) {
    return "is the pointer host memory, or was it never set? else look for an overflow in the "
           "index";
  }
  if (finding.code == "RL0204" && says(finding.message, "tile must start")) {
    return "bring the tile to shared memory first, in rows that are padded by whole 16 bytes: 8 "
           "halves or 4 floats";
  }
  if (says(finding.message, "no allocation is there")) {
    return "is the pointer device memory, and are the arguments in their order? With "
           "CUBLAS_POINTER_MODE_DEVICE, alpha, beta and results are read there, too";
  }
  if (says(finding.message, "leading dimension")) {
    return "to cuBLAS a matrix is column-major: its leading dimension is the distance between two "
           "columns, which is the length of a row of yours";
  }
  return nullptr;
}

}  // namespace

simgpu::Finding with_cause(const simgpu::Finding& finding,
                           const std::vector<simgpu::Finding>& all) {
  if (finding.code != "RL0301" || !finding.other) return finding;
  const auto found_nothing = [&](const simgpu::Finding& read) {
    return read.code == "RL0206" && read.kernel == finding.kernel &&
           read.where.file == finding.other->file && read.where.line == finding.other->line &&
           shared_array(read.object) == shared_array(finding.object);
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
  if (!finding.kernel.empty()) story.context = "kernel " + kernel_name(finding.kernel);
  add_details(story, finding, context);
  if (effect != nullptr) {
    add_effect(story, *effect, context);
  } else if (!context.hidden && !context.case_name.empty()) {
    story.context += fmt::format("{}case {}", story.context.empty() ? "" : ", ", context.case_name);
  }
  if (const Advice* advice = advice_for(finding)) {
    if (advice->note != nullptr) story.notes.emplace_back(advice->note);
    const char* closer = closer_help(finding);
    story.help = closer != nullptr ? closer : advice->help;
  }
  return story;
}

}  // namespace rooflab

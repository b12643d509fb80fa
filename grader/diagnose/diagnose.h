#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/contract/oracle.h"
#include "grader/device/device.h"
#include "grader/spec/part.h"
#include "grader/spec/result.h"
#include "grader/spec/seed.h"
#include "simgpu/report.h"

/// Turns evidence into stories: cause, place, evidence, error pattern, replay, next step.
namespace rooflab {

/// Where a failure happened, for places and replay commands.
struct DiagnoseContext {
  int part = 0;
  std::string task;
  std::string case_name;
  int case_number = 0;  ///< public cases from 1; 0 for hidden and timed ones
  Seed seed;
  bool hidden = false;               ///< sizes and values of a hidden case are not shown
  std::filesystem::path submission;  ///< the part's directory in the submission
  std::string file;                  ///< the task's file, relative to it
  /// The texts, as they were graded, of that file and of those that the task uses, by name.
  std::map<std::string, std::string> sources = {};
};

/// The comparison of one tensor with what it had to hold.
struct TensorCheck {
  std::string tensor;
  std::vector<std::int64_t> shape;
  std::vector<std::size_t> index = {};  ///< the elements that follow, ascending; empty: all
  std::vector<double> got;
  std::vector<double> expected;
  std::vector<double> tolerance;
  std::vector<bool> wrong;
  std::vector<bool> unwritten;  ///< still holds the poison it was filled with
  std::uint64_t wrong_count = 0;
  std::uint64_t nan_count = 0;
  std::uint64_t unwritten_count = 0;
  /// Elements among which unwritten ones were counted, where these are more than were compared.
  std::uint64_t searched = 0;
  std::size_t first_unwritten = 0;  ///< then
  std::map<std::string, double> real_parameters =
      {};  ///< of the problem, by name: factors of its results
};

/// A finding of the simulated GPU. `effect`, if not null, adds what it did to the outputs.
Diagnostic explain_finding(const simgpu::Finding& finding, const DiagnoseContext& context,
                           const TensorCheck* effect = nullptr);

/// The finding as its cause: a place in shared memory that a thread "overwrites while another still
/// needs it" was read too early instead, where `all` of the launch's findings say that the reader
/// found nothing stored there yet. Which of the two it looks like depends on whose turn came first.
simgpu::Finding with_cause(const simgpu::Finding& finding, const std::vector<simgpu::Finding>& all);

/// Whether the output is what the mistake makes, element by element.
bool reproduces(const TensorCheck& check, const KnownMistake& mistake);

/// How many different values speak for a mistake that makes the output: those of its elements that
/// would be right without it. What is 0 everywhere, or one number, comes of many mistakes.
std::size_t evidence_of(const TensorCheck& check, const KnownMistake& mistake);

/// A wrong output: named by the first known mistake that reproduces it, else by the relation of its
/// values to the right ones, else by the places of the wrong elements (relation.h).
Diagnostic explain_mismatch(const TensorCheck& check, const std::vector<KnownMistake>& mistakes,
                            const DiagnoseContext& context);

/// A launch with fewer threads than there are elements, each of which does the same few.
struct ShortGrid {
  std::uint64_t blocks = 0, threads = 0;  ///< threads of a block
  std::uint64_t each = 0;                 ///< elements of a thread
};

/// What blocks of a vast problem leave out.
struct WrappedIndex {
  std::string tensor;           ///< an output
  std::uint64_t unwritten = 0;  ///< its first element that no block writes; 0: not known
  /// What is left out begins where a number of 32 bits wraps; else nothing is known of the cause.
  bool wraps = false;
  std::optional<ShortGrid> short_grid = {};
  std::optional<std::uint64_t> last_block = {};   ///< of the grid, where that is known to have run
  std::optional<std::uint64_t> last_writes = {};  ///< the first element that it writes
};

/// Outputs of a vast problem of which a large part is never written.
/// @param beyond_int it has more elements than an int counts
Diagnostic explain_vast_unwritten(const WrappedIndex& wrapped, bool beyond_int,
                                  const DiagnoseContext& context);

/// A block whose access is out of bounds.
struct LostBlock {
  simgpu::Dim3 block, thread;
  bool is_far = false;      ///< its access is so far outside as an index that wraps takes it
  std::string tensor;       ///< the output that it should write; empty where its share says nothing
  std::uint64_t share = 0;  ///< about the first element of it, where blocks follow each other
};

/// Adds to the story of a vast case what only happens there.
/// @param beyond_int it has more elements than an int counts
void add_vast_cause(Diagnostic& story, bool beyond_int, const std::optional<LostBlock>& lost);

/// Whether the story of a wrong answer names its cause, rather than how the results look.
bool names_cause(const Diagnostic& story);

/// Whether it tells in what way the results are wrong, or why, and not only that they are.
bool tells_more_than_wrong(const Diagnostic& story);

/// An input that the call changed, counted in elements.
Diagnostic explain_changed_input(const std::string& tensor, std::uint64_t changed,
                                 std::uint64_t total, const DiagnoseContext& context);

/// Named results that are missing or differ (`values` tasks); `expected` holds only those.
Diagnostic explain_results(const Values& got, const Values& expected,
                           const std::vector<RatioHint>& ratios, const CaseSpec& spec,
                           const DiagnoseContext& context);

/// Wrong results whose cause the oracle knows: `story` is what is told of them without it.
Diagnostic explain_cause(const Complaint& cause, const Diagnostic& story,
                         const DiagnoseContext& context);

/// A fault that the oracle found.
Diagnostic explain_complaint(const Complaint& complaint, const DiagnoseContext& context);

/// A fault in how right values came about.
Diagnostic explain_way(const Complaint& complaint, const DiagnoseContext& context);

/// A run that ended in any way other than returning, or that left a CUDA error behind.
Diagnostic explain_end(const RunOutcome& outcome, const DiagnoseContext& context);

/// Adds the line of the call that threw, if the run ended so and the line is the student's.
void add_failed_call(Diagnostic& story, const RunOutcome& outcome, const DiagnoseContext& context);

/// A stub: the place of the TODO and what it says to do first.
Diagnostic explain_not_implemented(const std::string& file, std::uint32_t line,
                                   const std::string& message, const DiagnoseContext& context);

/// nvcc's messages, already relative to the submission and capped.
Diagnostic explain_compile_error(const std::string& compiler_output,
                                 const DiagnoseContext& context);

/// A function that the task forbids.
/// @param line of the call in the context's file; 0 when the device saw it, or nobody knows
Diagnostic explain_forbidden(const std::string& function, std::uint32_t line,
                             const DiagnoseContext& context);

/// A time below timing.floor_us, which docs/design/targets.md derives.
Diagnostic explain_suspect(const Timing& timing, const DiagnoseContext& context);

/// Whether the grid leaves so many multiprocessors without work that it takes twice as long, or
/// more.
bool leaves_multiprocessors_idle(const simgpu::KernelRecord& kernel);
/// What helps then.
inline constexpr const char* kCutIntoMoreBlocks =
    "cut the work into more blocks: along another dimension, or along the sums, whose parts are "
    "then added up";

/// A correct but slow kernel: the counter that proves why, such as 32 sectors for each request.
/// Empty when no cause stands out.
std::vector<Diagnostic> explain_slowness(const Timing& timing, const simgpu::KernelRecord& kernel,
                                         const DiagnoseContext& context);

/// Launches of a right call whose blocks have fewer threads than a warp, though there are many of
/// them: are the two numbers in <<<>>> swapped? Nothing where there is none.
std::optional<Diagnostic> explain_thin_blocks(const simgpu::Activity& activity,
                                              const DiagnoseContext& context);

/// What the oracle says of a right call. `timing` has the points that the call has in the end.
Diagnostic explain_remark(const SpeedRemark& remark, const Timing& timing,
                          const DiagnoseContext& context);

/// Launches or DRAM bytes of a timed call that cost it points: how many, which kernels, and why one
/// kernel needs fewer. Empty when it has all of these points.
std::vector<Diagnostic> explain_counts(const Timing& timing, const simgpu::Activity& activity,
                                       const DiagnoseContext& context);

/// A right result that the device did not compute, or not within the timed call.
/// @param reason what the device saw instead, a clause
Diagnostic explain_work_elsewhere(const std::string& reason, const DiagnoseContext& context);
/// A right result of which data went over the host on its way.
Diagnostic explain_detour(const std::string& reason, const DiagnoseContext& context);
/// A call that makes more calls of the runtime than the device records, which are `most`.
Diagnostic explain_unrecorded_calls(std::uint64_t most, const DiagnoseContext& context);
/// A call that has more work under way on streams at a time than the device holds against what
/// comes, and then work that nothing orders behind it.
Diagnostic explain_unwatched_work(const DiagnoseContext& context);

/// A timed case that is right, but not in each of its calls.
enum class Repeat : std::uint8_t {
  drawn,      ///< one of the timed calls, drawn at random, was wrong
  fresh,      ///< the call after them, with inputs drawn anew, was wrong
  stale,      ///< it returned what the inputs before asked for
  elsewhere,  ///< it stored to the arrays of an earlier call
  beside,     ///< it ran on another stream beside the first one
};
/// Which call of its process went wrong.
struct CallOfProcess {
  int number = 0;          ///< 2 for the second one; 0 where nobody counts
  bool is_larger = false;  ///< its arrays are larger than those of the first call
};
/// A call that was right is not once the last warps and blocks come first.
/// @param other what is told of that call
Diagnostic explain_order(const Diagnostic& other);
/// @param check of that call, against what its own inputs ask for
Diagnostic explain_repeat(Repeat repeat, CallOfProcess call, const TensorCheck& check,
                          const DiagnoseContext& context);
/// Adds to the story of a call that failed that it was not the first one in its process.
void add_call_of_process(Diagnostic& story, CallOfProcess call);

/// A timed call that takes longer with inputs that it has not seen.
/// @param fresh_us the shortest time with such inputs
/// @param time_us the median of the others
Diagnostic explain_slower_on_fresh(double fresh_us, double time_us, const DiagnoseContext& context);

/// Timed calls that came back before their outputs were written.
Diagnostic explain_early_return(int calls, const DiagnoseContext& context);

/// A measured time so noisy that it decides over more points than noise may: a grader fault.
Diagnostic explain_noise(const Timing& timing, double points_in_doubt,
                         const DiagnoseContext& context);

/// A task that this GPU lacks the arithmetic for.
Diagnostic explain_not_applicable(const std::string& gpu, const std::string& peak,
                                  const DiagnoseContext& context);

/// A fault of the grader itself.
Diagnostic explain_grader_fault(const std::string& reason, const DiagnoseContext& context);

}  // namespace rooflab

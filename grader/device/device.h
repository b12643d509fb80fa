#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "grader/contract/problem.h"
#include "grader/contract/thrown.h"
#include "grader/device/origins.h"
#include "grader/spec/gpu_user.h"
#include "simgpu/replay/recording.h"
#include "simgpu/report.h"
#include "simgpu/settled_bytes.h"
#include "specs/gpu_spec.h"

namespace rooflab {

/// A device that cannot be had: why, and what to do.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A call with inputs that no call before had, made after the timed ones and told apart from them
/// by nothing else.
struct FreshCall {
  Problem problem;
  /// 2 for the second call of its process, where its arrays and those of the first one lie apart; 0
  /// where nobody counts.
  int number = 0;
  /// It stored to outputs of an earlier call, at addresses that it was not given.
  bool wrote_to_earlier = false;
  /// It was made beside the first call, on another stream: of late inputs, where the GPU is
  /// simulated.
  bool is_beside = false;
  std::vector<std::vector<std::byte>> outputs;  ///< of every tensor, in order
  Values results = {};                          ///< of RunRequest::further; untrusted
  double time_us = 0;                           ///< 0: taken while the GPU was throttled
};

/// How the samples of a measured time were taken.
struct SamplingRecord {
  bool clocks_watched = false;  ///< NVML was there to say whether the GPU was throttled
  int dropped = 0;              ///< taken while it was, by heat or a fault; others took their place
  int contradicted = 0;  ///< the guest's events did not agree with our clock, which counted instead
  double sm_mhz = 0;     ///< median clock of the samples that count; 0: not watched
  int slow_clock = 0;    ///< samples dropped since their clock was clearly below the others'
  /// Samples that something disturbed, each in one way or several: the GPU was busy when the call
  /// was prepared, which it was not for the bystander; processes of the guest ran meanwhile
  /// although they were stopped; or another process computed on the GPU.
  int busy_before = 0;
  int not_still = 0;
  int beside_others = 0;
  int disturbed = 0;         ///< of the samples that count; 0 where others took the place of all
  bool users_known = false;  ///< whether others' processes on the GPU can be seen
  std::vector<GpuUser> other_users = {};  ///< seen before or after the samples
  int early = 0;  ///< calls that came back before their outputs were written
  /// Every one of several calls with fresh inputs took longer than all samples, by half or more.
  bool slower_on_fresh = false;
};

/// What is final of a call of which the device ran only a part, as the device's own records of
/// stores say.
struct SettledPart {
  /// By tensor: offsets of the bytes that whole blocks have stored and nothing changes any more, in
  /// order and apart from each other. Empty where nobody can say.
  std::vector<std::vector<simgpu::ByteRange>> written;
  /// By tensor: how many bytes of it all blocks write, as far as those that ran tell.
  std::vector<std::uint64_t> of_grid;
  /// Of the only launch that was cut short; `last_stores_at` is an address of the device.
  simgpu::ChosenBlocks chosen = {};
  std::vector<std::uint64_t> addresses = {};  ///< of the tensors
};

/// What killed a process: a signal, or the grader because it had too many processes.
struct Killer {
  int signal = 0;
  bool too_many_processes = false;
};

/// One of the variants that a library was built with. It exports
/// `extern "C" void rooflab_choose_variant(int first, int second, double value)` for its host code,
/// and where its device code looks, VARIANTS.md says. All zero is what the source says.
struct Variant {
  int first = 0, second = 0;
  double value = 0;
};

/// What a variant made of a problem.
struct VariantCall {
  /// It returned, without an error of CUDA, a fault, or a finding that says something of results.
  bool is_sound = false;
  std::string failure_code = {};  ///< of the first such finding; empty where there is none
  std::vector<std::vector<std::byte>> outputs = {};  ///< of every tensor, in order; of a sound call
  Values results = {};                               ///< of a sound call; untrusted
  std::uint64_t warp_instructions = 0;               ///< of all its launches
  std::uint64_t most_blocks = 0;                     ///< of one launch; 0 without any
};

/// What a guest's run ended in.
struct RunOutcome {
  enum class End : std::uint8_t {
    returned,         ///< the student's function came back
    not_implemented,  ///< it threw the toolkit's "not implemented"
    exception,        ///< it threw anything else
    exited,           ///< the process ended before the call came back
    killed,           ///< by a signal of its own making: segmentation fault, abort
    time_limit,
    memory_limit,
    output_limit,
    disk_limit,
    device_fault,  ///< the device process or the sandbox failed: a grader fault
  };
  End end = End::returned;
  std::string detail;      ///< exception text, signal name, what a stub asks for; untrusted
  Thrown thrown;           ///< of an exception of the toolkit; untrusted
  Killer killer = {};      ///< of a process that was killed
  std::string cuda_error;  ///< "cudaErrorIllegalAddress" when the call left one behind
  Values results;          ///< untrusted
  std::vector<std::vector<std::byte>>
      outputs;  ///< of every tensor, in order, read on the trusted side; where blocks
                ///< were left out the bytes of settled.written, one after the other
  bool keeps_records = false;  ///< the device fills in `activity`; a real GPU does not
  bool sampled = false;        ///< the device left out blocks, as the request allows
  SettledPart settled;         ///< of a call that was cut short or sampled
  simgpu::Activity activity;
  std::vector<double> samples_us;          ///< timed calls: elapsed time of each that counts
  std::optional<SamplingRecord> sampling;  ///< of a measured time; nothing of a modelled one
  /// Of one of the timed calls, which was drawn at random; empty where they are not repeated.
  std::vector<std::vector<std::byte>> drawn_outputs;
  std::vector<FreshCall> fresh;
  simgpu::replay::Recorded recorded;   ///< of RunRequest::recording
  std::vector<ElementOrigin> origins;  ///< of RunRequest::origins_of, in their order
  int failed_call =
      0;  ///< of RunRequest::further: the call whose end this is; 2 for the second one
  /// Of RunRequest::variants, in their order; fewer where their time limit ended them.
  std::vector<VariantCall> variant_calls;
  std::string printed;  ///< capped stdout and stderr of the guest; untrusted
};

/// What a simulated GPU is to record of a call, step by step.
struct RecordingRequest {
  simgpu::replay::Wanted wanted;
  std::optional<ElementPlace> element = {};  ///< whose bytes `wanted` is about, where it is a store
};

/// One more call in the process of a first one.
struct FurtherCall {
  /// Its tensors lie where those of an earlier call lay, which had the same sizes: 0 for the first
  /// call, then counting those with addresses of their own. Nothing: it gets such addresses.
  std::optional<std::size_t> at = {};
};

struct RunRequest {
  std::filesystem::path library;  ///< the built submission
  std::string entry;
  std::vector<std::string> libraries;  ///< TaskSpec::libraries: what it may load when it runs
  const Problem* problem = nullptr;
  bool timed = false;  ///< checkers off; caches cold; repeated on a real GPU
  /// A simulated GPU may run only as many blocks of a grid as it needs to predict counters and
  /// time; what the others would have written stays as it was. A real GPU runs them all.
  bool sampled = false;
  std::chrono::duration<double> time_limit{60};
  /// What the problem asks for. A simulated GPU lets a thread alone go on for long enough to do it.
  double flops = 0;
  /// Of the work that a simulated GPU does for a timed call at most: less where a call of the task
  /// has taken more than that already, more where only a run in full tells whether it is right.
  double share_of_work = 1;
  /// Decides which blocks a simulated GPU runs of a launch that it does not run whole. The guest
  /// must not know it.
  std::uint64_t secret = 0;
  /// The function gets a stream from its caller, which does not wait for the default stream.
  bool gives_stream = false;
  /// What the function does must be ordered with that stream, or with the default stream where it
  /// gets none, at any size. What is not is a finding with the code RL0325. On a simulated GPU this
  /// costs next to nothing.
  bool holds_to_stream = false;
  /// With gives_stream, on a device with checkers: the caller's own work on the tensors is on that
  /// stream, before the call and behind it, and nobody waits for it. Where `fresh` is given, the
  /// function is called once more right behind, on another stream: both may run at once.
  bool late_inputs = false;
  /// Findings name only what the library was built with: what a guest makes at run time, it could
  /// name after the sizes of a hidden case.
  bool names_built_code_only = false;
  /// Processor time of the guest alone, where the GPU is simulated: 0 for that of time_limit.
  std::chrono::duration<double> host_time_limit{0};
  /// The problem with its inputs drawn anew, each time others: for a device that repeats timed
  /// calls in one guest, which could keep results. Sizes are those of `problem`. May be empty.
  std::function<Problem(int index)> fresh = {};
  /// Where the GPU is simulated: calls behind the first one, in its process and under checkers, the
  /// i-th of fresh(i), which may then have other sizes, too.
  std::vector<FurtherCall> further = {};
  /// Where the GPU is simulated: warps and blocks come in the opposite order in kernels that can
  /// see it (KernelRecord::sees_order).
  bool backwards = false;
  /// Where the GPU is simulated: elements of outputs of which RunOutcome::origins is wanted. The
  /// call is slower for it by far: it is for small problems.
  std::vector<ElementPlace> origins_of = {};
  /// Where the GPU is simulated, of a call with checkers and no further calls. It is slower for it
  /// by far.
  std::optional<RecordingRequest> recording = {};
  /// Of a timed call: it gets these only where it takes at most so many warp instructions.
  std::uint64_t checked_again_up_to = 0;
  /// Where the GPU is simulated, of a call without further ones: calls of these variants behind the
  /// first one, the i-th of fresh(i), whose tensors have the sizes of `problem`. One that fails
  /// does not end the others.
  std::vector<Variant> variants = {};
  bool variants_checked = true;  ///< checkers watch them, which takes longer
  bool variants_timed = true;    ///< the times of their launches may matter, which takes longer
  /// What each of them may take, in warp instructions; 0: four times what the first call took of
  /// its budget, and 100,000, or a share of 30 million, whichever is more.
  std::uint64_t variant_budget = 0;
  /// Of all of them together, of the processor. Those that are left then are not called.
  std::chrono::duration<double> variants_time_limit{5};
  /// The same of the host's code, for which the device waits: that of a guest, which is replaced.
  std::chrono::duration<double> variants_host_time_limit{20};
};

/// What a device's checkers say of one call.
struct CheckedCall {
  std::vector<simgpu::Finding> findings = {};
  std::string unavailable = {};  ///< why they can say nothing; empty when they could
  std::string incomplete = {};  ///< why they did not see all of this very call; empty when they did
};

/// A GPU that can run one call of a guest at a time: simulated or real. No lab knows which.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string id() const = 0;         ///< "sim:a100", "cuda:0"
  virtual std::string name() const = 0;       ///< "simulated A100 40 GB PCIe"
  virtual std::string time_kind() const = 0;  ///< "modelled" or "measured"
  virtual const gpu_spec::GpuSpec& gpu() const = 0;
  /// Of that very GPU, "GPU-8c4d1f20-…"; empty for a simulated one.
  virtual std::string uuid() const { return {}; }
  /// gpu() with the peaks that rooflines go by: its data sheet's, or those calibrated on that GPU.
  virtual const gpu_spec::GpuSpec& roofline_gpu() const { return gpu(); }
  /// Which peaks those are, for reports.
  virtual std::string peaks() const { return "data sheet"; }
  virtual RunOutcome run(const RunRequest& request) = 0;
  /// Whether untimed runs are watched by checkers, whose findings are in the activity.
  virtual bool checks_every_run() const { return true; }
  /// Makes a call that failed once more under checkers, where every run would be too slow for them.
  /// Why they do not work is told once.
  virtual CheckedCall check(const RunRequest& /*request*/) { return {}; }
  /// Whether tensors of a vast problem take no more memory than what is touched of them.
  virtual bool backs_lazily() const { return false; }
  /// Whether runs of several threads may go on at once; a measured time belongs to a run alone.
  virtual bool runs_side_by_side() const { return false; }
};

}  // namespace rooflab

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "simgpu/counters/sector_cache.h"
#include "simgpu/device/activity_log.h"
#include "simgpu/device/cuda_error.h"
#include "simgpu/device/executable_graph.h"
#include "simgpu/device/host_objects.h"
#include "simgpu/device/host_sources.h"
#include "simgpu/device/host_traffic.h"
#include "simgpu/device/known_launches.h"
#include "simgpu/device/launch_choices.h"
#include "simgpu/device/memory_pool.h"
#include "simgpu/device/module.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/stream_races.h"
#include "simgpu/device/timeline.h"
#include "simgpu/device/unordered_work.h"
#include "simgpu/exec/kernel_heap.h"
#include "simgpu/machine_code/assembler.h"
#include "simgpu/memory/device_memory.h"
#include "simgpu/report.h"
#include "simgpu/settled_bytes.h"
#include "specs/gpu_spec.h"

namespace simgpu {

struct DeviceOptions {
  unsigned workers = 0;  ///< CPU threads that execute blocks; 0: one per CPU
  bool checkers = true;
  /// Run only as many blocks of a grid as predict counters and time; time cuBLAS without computing.
  bool sampled = false;
  /// Of a sampled run: execute a launch although one like it tells its outcome. See KnownLaunches.
  bool execute_repeats = false;
  std::uint64_t instruction_budget = 20'000'000'000;
  double warp_limit_us = 0;  ///< modelled, of a launch: EngineOptions::warp_limit_us
  /// Launches that take too long do not fail: their times are predicted from some blocks, or told
  /// as lower bounds. The budget is then that of all launches since the last mark together.
  bool bounds_long_launches = false;
  /// With that: they are told from some of their blocks alone, without a look at how many it takes
  /// to predict the rest.
  bool bounds_by_blocks_alone = false;
  /// Calls of the host since the last mark, waiting ones left out, after which its program takes
  /// too long; so it does when its launches and copies together have used up the budget of one
  /// launch. 0: no limit.
  std::uint64_t host_call_limit = 0;
  std::uint64_t memory_limit = 0;  ///< bytes that may be allocated; 0: the GPU's memory
  /// Who makes machine code of the PTX that is executed, for registers and occupancy; nullptr:
  /// these are estimated. Has to outlive the device.
  const machine_code::Assembler* assembler = nullptr;
};

/// A library routine that runs on the device without PTX (cuBLAS): what it is called, what it cost.
struct LibraryKernel {
  std::string name;
  double flops = 0;       ///< floating-point operations, a multiply-add as two
  std::string flop_type;  ///< key of GpuSpec::peak_flops, falls back to "fp32"
  double read_bytes = 0;  ///< compulsory traffic
  double stored_bytes = 0;
  /// Tells where its operands lie; nothing of those with very many gaps.
  std::function<std::vector<StreamRaces::Range>()> touched = {};
  HostTraffic host = {};  ///< of operands in memory that the host shares
};

/// One simulated GPU in this process: memory, modules, streams on a modelled timeline, and a log of
/// what was done. Functions named as the guest's requests answer with the runtime's error; the
/// trusted side's functions throw std::runtime_error. Not thread-safe: one request at a time.
class Device {
 public:
  Device(gpu_spec::GpuSpec gpu, const DeviceOptions& options);

  const gpu_spec::GpuSpec& gpu() const { return gpu_; }
  DeviceMemory& memory() { return memory_; }
  Timeline& timeline() { return timeline_; }
  ActivityLog& log() { return log_; }
  /// The default pool is number 0. nullptr when there is none of this number.
  MemoryPool* pool(std::uint64_t number);
  CudaError create_pool(std::uint64_t* number);
  /// Its allocations stay until they are freed.
  CudaError destroy_pool(std::uint64_t number);
  /// cudaLimitStackSize: bytes of each thread for calls of functions that are not inlined.
  std::uint32_t stack_bytes() const { return stack_bytes_; }
  CudaError set_stack_bytes(std::uint64_t bytes);
  /// cudaLimitMallocHeapSize, of which kernels' malloc takes.
  std::uint64_t heap_bytes() const { return heap_.bytes(); }
  CudaError set_heap_bytes(std::uint64_t bytes);
  protocol::Properties properties() const;

  /// An error that stays until the device is reset: after it nothing runs.
  CudaError fault() const { return fault_; }

  // The guest's memory.
  CudaError allocate(std::uint64_t bytes, std::uint64_t* address);
  CudaError allocate_array(std::uint64_t bytes, std::uint64_t* address);
  /// A texture or surface object over memory that is there; the image is untrusted.
  CudaError create_image(const Image& image, std::uint64_t* handle);
  CudaError allocate_from_pool(std::uint64_t bytes, std::uint64_t pool, std::uint64_t* address);
  /// Memory that the guest maps: managed, or its own pinned memory.
  CudaError allocate_shared(std::uint64_t bytes, Sharing sharing, SharedBlock* block);
  CudaError release(std::uint64_t address);
  /// cudaFreeAsync: the memory is freed when its turn comes on the stream.
  CudaError release_on(std::uint64_t address, std::uint64_t stream);
  /// Pinned memory, which cudaFree does not take.
  CudaError release_pinned(std::uint64_t address);
  std::uint64_t free_bytes() const;
  /// Frees what the guest allocated, loaded and created, and clears the fault.
  void release_guest();
  /// The program has ended. What it allocated and has not freed becomes findings (RL0309), one for
  /// each size and function, none after a fault: nothing can be freed then. So does a failed launch
  /// that it never asked about.
  void report_end();

  // Copies. begin_… checks the range and places the transfer on the timeline; the bytes follow in
  // pieces, packed without the pitch.
  CudaError begin_copy(const protocol::CopyRequest& request, bool to_device);
  void write_packed(const protocol::CopyRequest& request, std::uint64_t offset,
                    std::span<const std::byte> bytes);
  void read_packed(const protocol::CopyRequest& request, std::uint64_t offset,
                   std::span<std::byte> bytes);
  CudaError copy_on_device(const protocol::DeviceCopyRequest& request);
  CudaError fill(const protocol::FillRequest& request);

  // Modules and launches.
  CudaError load(std::span<const std::byte> container, std::uint64_t* module,
                 protocol::ImageOrigin origin = protocol::ImageOrigin::program);
  CudaError unload(std::uint64_t module);
  LoadedModule* module(std::uint64_t handle);
  /// The module, with its kernels' figures settled: waits for the machine code.
  LoadedModule* settled_module(std::uint64_t handle);
  CudaError launch(const protocol::LaunchMessage& message, std::span<const std::byte> parameters);
  /// The device has worked on these ranges, and memory that the host shares holds what it should.
  void keep_managed(std::vector<ByteRange> touched);
  /// What the host has written to managed memory since.
  std::vector<ByteRange> written_by_host() const;
  /// Records and times a library routine that has just been carried out.
  CudaError run_library_kernel(const LibraryKernel& kernel, std::uint64_t stream);
  /// Warp instructions that one launch may have.
  std::uint64_t instruction_budget() const { return options_.instruction_budget; }
  /// A library routine that cannot run: why, and the error that a GPU would end in.
  void fail_library_kernel(Finding why);
  /// Launches so far that did not execute, because one like them had told their outcome.
  std::uint64_t repeats() const { return repeats_; }
  void synchronize(Picoseconds until);
  // What the host does from now on comes behind this work.
  void host_waited_for_stream(std::uint64_t stream);
  void host_waited_for_event(std::uint64_t event);
  void host_waited_for_all();
  /// A function of the host runs on a stream, or as a node of a graph.
  void host_function_runs(std::uint64_t stream);
  /// What launch() would refuse, with its finding.
  CudaError check_launch(const protocol::LaunchMessage& message, std::size_t parameter_bytes);

  // Graphs. Between begin_node() and end_node() what is launched, copied and filled is the node's.
  GraphTable& graphs() { return graphs_; }
  /// How many graphs the guest's library keeps, from which executable ones are made. The guest's
  /// word: it only says what its program has forgotten.
  void note_graphs_kept(std::uint64_t count) { graphs_kept_ = count; }
  /// A call that the guest's libraries carry out by themselves: it takes the host time.
  void spend_on(const protocol::HostCall& call) { timeline_.spend(host_objects_.note(call)); }
  /// @param follows_work whether a node before it has done something, so that the device knew of it
  void begin_node(Picoseconds from, bool follows_work, StreamRaces::Node node);
  /// @returns when the node is done
  Picoseconds end_node();

  /// Device printf output that the guest has not taken yet.
  std::string take_output();
  bool has_output() const { return !output_.empty(); }

  /// Tells of what host code did, which has no place in the device's source.
  void report(Finding finding) { log_.add(std::move(finding)); }

  /// The host has made a call. @param waits it asked for what is not done yet
  void note_host_call(bool waits);
  /// Whether the host goes on and on behind the limit, or behind a fault that it does not look at.
  bool is_host_endless() const;

  /// What the guest's own library refused becomes a finding.
  void report_misuse(const protocol::Misuse& misuse);
  /// cudaEventElapsedTime of events of which at least one was never recorded.
  void report_unrecorded(bool start, bool stop);
  /// The program called a function that its library does not have, or not in this way.
  void report_refused(const std::string& function, bool in_part);
  /// A call named a stream or an event that is not there.
  void report_no_handle(const std::string& function);
  /// A launch failed whose result the program cannot see: unless it asks for the last error before
  /// the end or a reset, that is a finding (RL0314).
  void note_unasked_launch(CudaError error);
  void note_asked() { unasked_.reset(); }

  // The trusted side.
  /// A stream that the guest's function gets from its caller. @returns its handle
  std::uint64_t open_callers_stream() { return timeline_.create_callers_stream(); }
  /// The caller works with these bytes on that stream now, or on the default stream where it gave
  /// none, and nobody has waited for it: before the call it makes the arguments, behind it it uses
  /// what they hold. Work of the guest that is not ordered with it is a finding (RL0325). Takes no
  /// modelled time.
  /// @param alone nothing else is looked for because of it. Without checkers, and of blocks that
  ///              are sampled, nothing else is looked for in any case. Work on that stream itself
  ///              costs nothing then.
  void note_callers_work(const std::vector<ByteRange>& ranges, bool alone);
  std::uint64_t trusted_allocate(std::uint64_t bytes, const std::string& label);
  /// The same for more than this machine may hold: it takes the memory of the pages that kernels
  /// touch, and holds `pattern` again and again, or zeros where that is empty.
  std::uint64_t trusted_allocate_vast(std::uint64_t bytes, const std::string& label,
                                      std::span<const std::byte> pattern);
  void trusted_release(std::uint64_t address);
  void set_checkers(bool on) { options_.checkers = on; }
  /// Checkers watch what comes, and launches that take too long fail. All memory that there is
  /// counts as written, since nobody saw who wrote to it.
  void check_from_now_on(std::uint64_t instruction_budget, std::uint64_t host_call_limit);
  bool checkers() const { return options_.checkers; }
  bool sampled() const { return options_.sampled; }
  /// EngineOptions::secret of the launches from now on.
  void set_secret(std::uint64_t secret) { secret_ = secret; }
  /// The next bytes of the built library. Modules that lie in it were there before the call.
  void add_built_code(std::span<const std::byte> bytes);
  /// Only modules of the built library are named from now on.
  void name_only_built_code() { names_only_built_code_ = true; }
  void mark();
  Activity collect();
  /// What is final of a call whose launch was cut short or sampled: what that launch's whole blocks
  /// stored, if it had all of its inputs, and nothing came behind it that could have changed that.
  const SettledBytes& settled() const { return settled_; }

 private:
  CudaError place(std::uint64_t bytes, const char* function, std::uint64_t* address);
  void remember(std::uint64_t address, std::uint64_t bytes, const char* function);
  /// Whether races between streams are looked for: not while there is only the default stream.
  bool watches_streams() const {
    const bool branches = node_.order != nullptr && node_.order->branches();
    return options_.checkers && !options_.sampled &&
           (timeline_.has_created_streams() || has_late_inputs_ || branches);
  }
  /// Whether work on this stream is only held against the caller's.
  bool is_off_callers_stream(std::uint64_t stream) const {
    return has_callers_work_ && !watches_streams() && stream != timeline_.callers_stream();
  }
  bool watches(std::uint64_t stream) const {
    return watches_streams() || is_off_callers_stream(stream);
  }
  /// Whether work may come to run beside other work that touches other places.
  bool wants_places() const {
    const bool branches = node_.order != nullptr && node_.order->branches();
    return timeline_.has_created_streams() || branches;
  }
  /// Places work on the timeline, behind what touches the same places and is not ordered with it.
  Picoseconds issue(std::uint64_t stream, Timeline::Engine engine, Picoseconds duration,
                    UnorderedWork::Places places, double share = 1.0);
  /// Where work touches these ranges.
  UnorderedWork::Places places_of(const std::vector<StreamRaces::Range>& ranges) const;
  /// Work that was just issued, on the stream that the timeline's last stamp names.
  void note_work(StreamRaces::Work work);
  void report_bad_free(std::uint64_t address);
  void report_leaks();
  void report_unasked();
  void report_unwritten(const protocol::CopyRequest& request);
  void note_reads_of_host(const std::string& kernel, const std::vector<TouchedSector>& sectors);
  void note_host_side(const HostSources::Rows& rows, bool is_read_later, bool is_written);
  void keep_source(const HostSources::Rows& rows, std::string by);
  void report_changed_sources();
  void report_changes(const std::vector<HostSources::Change>& changes);
  void forget_done();
  std::string describe_pointer(std::uint64_t address) const;
  bool range_is_valid(const char* what, std::uint64_t address, std::uint64_t pitch,
                      std::uint64_t width, std::uint64_t height);
  void record_memory(MemoryOperation operation, std::uint64_t bytes, std::uint64_t destination,
                     std::uint64_t stream, Picoseconds start, Picoseconds duration);
  Picoseconds copy_time(double bytes, double bytes_per_second) const;
  const gpu_spec::GpuSpec& timed_gpu() const { return follows_work_ ? node_gpu_ : gpu_; }
  double device_operation_us() const;
  KnownLaunches::Key key_of(const protocol::LaunchMessage& message,
                            std::span<const std::byte> parameters) const;
  std::uint64_t grid_workspace();
  std::uint64_t budget_of_launch() const;
  std::vector<std::uint64_t> written_in_this_call() const;
  /// What comes next changes memory: of a call that was cut short nothing is final any more.
  void unsettle() { settled_ = {}; }
  bool has_room_to_store(std::uint64_t address, std::uint64_t bytes);
  bool is_built(std::span<const std::byte> container) const;
  /// Of a kernel's mangled name, where its module may have gone.
  std::string shown_name(const std::string& mangled) const;
  void report_heap_leaks();
  void report_handle_leaks();
  std::size_t loaded_libraries() const;
  void finish_launch(const LoadedKernel& kernel, const protocol::LaunchMessage& message,
                     const LaunchResult& result, const HostTraffic& host);
  void raise(CudaError error);

  gpu_spec::GpuSpec gpu_;
  SectorCache l2_memory_;
  gpu_spec::GpuSpec node_gpu_;  ///< as a kernel within a graph finds it
  DeviceOptions options_;
  DeviceMemory memory_;
  KernelHeap heap_{memory_};
  Timeline timeline_;
  ActivityLog log_;
  std::map<std::uint64_t, MemoryPool> pools_{{0, {}}};
  std::uint64_t next_pool_ = 1;
  std::uint32_t stack_bytes_ = kDefaultStackBytes;
  CudaError fault_ = CudaError::success;
  Picoseconds marked_at_ = 0;
  std::string output_;
  std::uint64_t grid_workspace_ = 0;  ///< device address, once there was a cooperative launch
  std::uint64_t next_module_ = 1;
  std::map<std::uint64_t, LoadedModule> modules_;
  GraphTable graphs_;
  std::uint64_t graphs_kept_ = 0;
  HostObjects host_objects_;
  StreamRaces stream_races_;
  HostSources host_sources_;
  UnorderedWork unordered_work_;
  KnownLaunches known_launches_;
  LaunchChoices launch_choices_;
  std::uint64_t repeats_ = 0;
  std::uint64_t work_ = 0;                                ///< of the launches since the last mark
  std::uint64_t host_calls_ = 0, calls_after_fault_ = 0;  ///< since the last mark
  std::uint64_t host_work_ = 0;                           ///< of launches and copies since then
  std::uint64_t changes_at_mark_ = 0;                     ///< DeviceMemory::changes()
  bool is_cut_short_ = false;  ///< one of them took too long: nobody knows what follows from it
  std::uint64_t stored_to_vast_ = 0;   ///< bytes that copies and memsets store to vast allocations
  bool left_blocks_out_ = false;       ///< one of them was sampled: its results are not whole
  std::vector<std::byte> built_code_;  ///< empty: all modules count as built
  bool names_only_built_code_ = false;
  ManagedContents managed_;  ///< kept only while there is memory that the host shares
  SettledBytes settled_;     ///< of the only launch that left out blocks
  std::uint64_t secret_ = 0;
  bool has_callers_work_ = false;  ///< on the caller's stream
  bool has_late_inputs_ = false;   ///< and all streams are watched because of it
  StreamRaces::Node node_;         ///< that what is issued belongs to
  bool follows_work_ = false;      ///< what is issued belongs to a node that is not a graph's first
  /// Where a leaked allocation was made, as far as the device knows.
  struct GuestAllocation {
    std::uint64_t bytes = 0;
    const char* function = "";                 ///< of the runtime
    std::optional<std::uint64_t> pool;         ///< that it came from
    std::uint64_t number = 0;                  ///< 1 for the guest's first
    std::shared_ptr<const std::string> after;  ///< the kernel launched last; null before the first
  };
  std::map<std::uint64_t, GuestAllocation> guest_allocations_;  ///< by address
  std::set<std::uint64_t> pinned_;                              ///< addresses
  std::uint64_t allocations_made_ = 0;
  std::shared_ptr<const std::string> last_kernel_;
  std::string refused_kernel_;  ///< of the last launch that was refused
  struct UnaskedLaunch {
    CudaError error = CudaError::success;
    std::string kernel;
    std::uint64_t count = 0;
  };
  std::optional<UnaskedLaunch> unasked_;
};

}  // namespace simgpu

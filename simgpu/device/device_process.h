#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "simgpu/device/device_options.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/variable_content.h"
#include "simgpu/machine_code/assembler.h"
#include "simgpu/provenance/origin_report.h"
#include "simgpu/replay/recording.h"
#include "simgpu/report.h"
#include "simgpu/settled_bytes.h"

namespace simgpu {

/// The device process did not start, died, or broke the protocol: never the guest's fault.
class DeviceProcessError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Of memory that holds the same bytes again and again.
inline constexpr std::size_t kMostPatternBytes = std::size_t{1} << 20;

struct DeviceProcessOptions {
  std::filesystem::path program;  ///< the simgpu-device executable
  std::filesystem::path gpu;      ///< the specification file
  unsigned workers = 0;           ///< 0: one per CPU
  bool checkers = true;
  bool sampled = false;       ///< run only as many blocks of a grid as predict counters and time
  bool lines = false;         ///< as DeviceOptions has it
  bool machine_code = false;  ///< likewise
  TimeFrom time_from = TimeFrom::ptx;                 ///< likewise
  std::uint64_t instruction_budget = 20'000'000'000;  ///< these three as DeviceOptions have them
  double warp_limit_us = 0;
  bool bounds_long_launches = false;
  bool bounds_by_blocks_alone = false;
  bool backwards = false;             ///< as DeviceOptions has it
  std::uint64_t host_call_limit = 0;  ///< likewise
  unsigned most_registers = 0;        ///< as DeviceOptions has it
  /// Bytes that may be allocated, whoever does it; 0: what this machine can hold.
  std::uint64_t memory_limit = 0;
  /// How the device makes machine code of the PTX that it executes. No guest may reach its folder.
  machine_code::AssemblerOptions assembler = {};
};

/// The trusted side's hold on one simulated GPU that runs in a process of its own. The guest talks
/// to the same process over another connection, on which it can only allocate, copy, launch and
/// synchronise.
class DeviceProcess {
 public:
  static DeviceProcess start(const DeviceProcessOptions& options);
  ~DeviceProcess();  ///< ends the process
  DeviceProcess(DeviceProcess&&) noexcept;
  DeviceProcess& operator=(DeviceProcess&&) noexcept;

  /// Of the process, for those who watch what it takes of the machine.
  int process_id() const;

  /// Ends the process now; a call in progress on another thread throws DeviceProcessError.
  void kill() noexcept;

  /// A connected descriptor for one guest, to be inherited by it and named in SIMGPU_FD. It closes
  /// on exec, so that no other child of the caller keeps it: the guest's child clears that. The
  /// caller owns it and closes its copy after the guest has started.
  int connect_guest();

  /// Memory of the device, shared with the guest through its addresses alone.
  std::uint64_t allocate(std::uint64_t bytes, const std::string& label);
  /// Device::trusted_allocate_vast(). @param pattern whole pages, at most kMostPatternBytes, or
  /// none
  std::uint64_t allocate_vast(std::uint64_t bytes, const std::string& label,
                              std::span<const std::byte> pattern);
  void release(std::uint64_t address);
  void write(std::uint64_t address, std::span<const std::byte> bytes);
  void read(std::uint64_t address, std::span<std::byte> bytes);
  void fill(std::uint64_t address, std::uint8_t value, std::uint64_t bytes);
  /// The bytes count as never written: reading them before a store is a finding.
  void mark_uninitialized(std::uint64_t address, std::uint64_t bytes);

  void set_checkers(bool on);
  /// Device::check_from_now_on().
  void check_from_now_on(std::uint64_t instruction_budget, std::uint64_t host_call_limit);
  /// Device::keep_for_variants().
  void keep_for_variants();
  /// What has been done since mark().
  protocol::CallWork work_since_mark();
  /// Device::begin_variant().
  void begin_variant(const protocol::VariantLimits& limits,
                     const std::vector<VariableContent>& variables);
  /// A stream for the guest's function to get from its caller, as a handle of the runtime. It does
  /// not wait for the default stream.
  std::uint64_t open_callers_stream();
  /// Device::note_callers_work(): what lies in these bytes is on its way on that stream.
  void note_callers_work(std::span<const ByteRange> ranges, bool alone = false);
  /// Starts a region: caches are cold, the activity log is empty, the peak of memory is what is
  /// allocated now.
  void mark();
  /// What the guest has allocated and not freed is among the findings of the next collect().
  void report_end();
  /// Launches from now on are recorded, which makes them slower by far. Checkers have to be on.
  void record(const replay::Wanted& wanted);
  /// What came of it.
  replay::Recorded recorded();
  /// Waits for all work, and tells what happened since mark(). Until the next mark() no guest is
  /// served: what comes behind the records neither counts nor changes what is read.
  Activity collect();
  /// What is final of a call since mark() that was cut short: SinceMark::settled.
  SettledBytes settled();
  /// What goes into which memory is followed from now on, which makes launches much slower.
  void follow_origins();
  /// What went into these bytes, each at most 16, of the device's memory. @returns in their order
  std::vector<MemoryOrigin> origins_of(std::span<const ByteRange> places);
  /// Which blocks run of a launch that is bounded depends on it; the guest never learns it.
  void set_secret(std::uint64_t secret);
  /// The built library's bytes: other modules that the guest loads count as given
  /// (Activity::given_bytes).
  void set_built_code(std::span<const std::byte> library);
  /// Only modules of the built library are named from now on: of what else a guest loads, kernels
  /// are called "a kernel made at run time", and nothing has files, lines or names of variables. A
  /// name that is made at run time could tell what the guest knows.
  void name_only_built_code();

 private:
  struct Impl;
  explicit DeviceProcess(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace simgpu

#include "grader/device/sanitizer/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "grader/device/sanitizer/record.h"

namespace rooflab::sanitizer {
namespace {

using simgpu::AccessSite;
using simgpu::Code;
using simgpu::Finding;
using simgpu::FindingDetail;

/// Records are read beyond this many findings, which count equal ones together.
constexpr std::size_t kMostRecords = 4096;

std::string bytes_text(std::uint64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "byte" : "bytes");
}

/// Headers of the toolkit: their lines are nobody's mistake.
bool is_of_the_toolkit(const std::string& file) {
  return file.starts_with("/usr/") || file.find("/cuda/include/") != std::string::npos ||
         file.ends_with(".hpp");
}

void set_place(AccessSite& site, const Place& place) {
  site.file = place.file;
  site.line = place.line;
  site.warp = simgpu::kUnknownWarp;
}

/// The innermost line that is the student's, the calls that led there, and the kernel, from "at"
/// and "Device Frame:" of a record.
void set_frames(Finding& finding, const Record& record) {
  std::vector<Place> frames;
  if (const auto at = detail(record, "at ")) frames.push_back(place_in(*at));
  for (std::string_view line : record.details) {
    constexpr std::string_view kFrame = "Device Frame:";
    if (!line.starts_with(kFrame)) continue;
    line.remove_prefix(kFrame.size());
    while (line.starts_with(' ')) line.remove_prefix(1);
    frames.push_back(place_in(line));
  }
  if (frames.empty()) return;
  const auto is_students = [](const Place& place) {
    return place.line > 0 && !is_of_the_toolkit(place.file);
  };
  const auto first = std::ranges::find_if(frames, is_students);
  set_place(finding.where, first == frames.end() ? frames.front() : *first);
  for (auto frame = first; frame != frames.end() && std::next(frame) != frames.end(); ++frame) {
    const Place& caller = *std::next(frame);
    finding.where.inlined_at.push_back(
        {frame->function.substr(0, frame->function.find('(')), caller.file, caller.line, 0});
  }
  finding.kernel = frames.back().function;
}

/// "by thread (1,0,0) in block (2,0,0)".
void set_thread(Finding& finding, const Record& record) {
  const auto by = detail(record, "by thread ");
  if (!by) return;
  Scanner scanner(*by);
  const auto thread = scanner.coordinates();
  if (!thread || !scanner.past("in block ")) return;
  const auto block = scanner.coordinates();
  if (!block) return;
  finding.where.thread = *thread;
  finding.where.block = *block;
}

Finding begin(const Record& record, Code code) {
  Finding finding;
  finding.code = code;
  set_frames(finding, record);
  set_thread(finding, record);
  return finding;
}

/// "reads 4 bytes of global memory", as the simulated GPU says it.
std::string action_of(std::string_view verb, std::uint64_t bytes, std::string_view space) {
  const bool writes = verb == "write";
  return fmt::format("{} {} {} {} memory",
                     writes           ? "writes"
                     : verb == "read" ? "reads"
                                      : "updates atomically",
                     bytes_text(bytes), writes ? "to" : "of", space);
}

/// "the first byte past the end of", "4 bytes before the start of".
std::string distance_text(std::uint64_t bytes, bool past_end) {
  if (!past_end) return bytes_text(bytes) + " before the start of";
  return (bytes == 0 ? "the first byte" : bytes_text(bytes)) + " past the end of";
}

/// Where an address lies, from the lines "Address 0x… is out of bounds" and "and is … bytes after
/// the nearest allocation at 0x… of size … bytes". That count is from the last byte; ours is from
/// the end.
void set_global_place(Finding& finding, const Record& record, std::uint64_t address) {
  constexpr std::uint64_t kNull = 65536;
  constexpr std::uint64_t kFar = std::uint64_t{1} << 40;
  finding.object = "an address where nothing is allocated";
  if (address < kNull) {
    finding.object = fmt::format("address {}, a null pointer", address);
    return;
  }
  const auto near = detail(record, "and is ");
  if (!near) return;
  Scanner scanner(*near);
  if (!scanner.past("nearest allocation at ")) return;
  const auto base = scanner.address();
  if (!base || !scanner.word(" of size ")) return;
  const std::uint64_t size = scanner.number().value_or(0);
  const std::string allocation = fmt::format("an allocation of {}", bytes_text(size));
  if (address >= *base && address - *base < size) {
    finding.object = fmt::format("byte {} of {}", address - *base, allocation);
    return;
  }
  const bool past_end = address >= *base;
  const std::uint64_t distance = past_end ? address - *base - size : *base - address;
  if (distance > kFar) {
    finding.detail = FindingDetail::far_from_memory;
    finding.object = "an address far from any allocation";
    return;
  }
  if (past_end) finding.detail = FindingDetail::past_end;
  finding.object = fmt::format("{} {}", distance_text(distance, past_end), allocation);
}

struct OutOfBounds {
  const char* space;
  Code code;
  const char* message;
};
constexpr std::array kOutOfBounds{
    OutOfBounds{"global", "RL0201", "A global-memory access is out of bounds: it is at "},
    OutOfBounds{"shared", "RL0202", "A shared-memory access is out of bounds: it is at "},
    OutOfBounds{"local", "RL0203",
                "An access to a thread's own array is out of bounds: it is at "}};

/// "Invalid __global__ write of size 4 bytes".
std::optional<Finding> invalid_access(const Record& record) {
  Scanner head(record.head);
  if (!head.word("Invalid __")) return std::nullopt;
  const auto kind = std::ranges::find_if(
      kOutOfBounds, [&](const OutOfBounds& one) { return head.word(one.space); });
  if (kind == kOutOfBounds.end() || !head.word("__ ")) return std::nullopt;
  const std::string_view verb = head.rest().substr(0, head.rest().find(' '));
  if (!head.past(" of size ")) return std::nullopt;
  const std::uint64_t bytes = head.number().value_or(0);

  std::string_view where = detail(record, "Address ").value_or("");
  if (where.empty()) where = detail(record, "Access to ").value_or("");
  Scanner scanner(where);
  const std::uint64_t address = scanner.address().value_or(0);
  const bool misaligned = scanner.rest().find("misaligned") != std::string_view::npos;
  Finding finding = begin(record, misaligned ? Code("RL0204") : kind->code);
  finding.where.action = action_of(verb, bytes, kind->space);
  if (misaligned) {
    finding.object = fmt::format("address {:#x} of {} memory", address, kind->space);
    finding.message =
        fmt::format("An access of {} to {} memory is misaligned: {:#x} is no multiple of its size",
                    bytes_text(bytes), kind->space, address);
    return finding;
  }
  if (kind->code == "RL0201") {
    set_global_place(finding, record, address);
  } else {
    finding.object = fmt::format("byte {} of {} memory", address, kind->space);
  }
  finding.message = kind->message + finding.object;
  return finding;
}

/// "Uninitialized __global__ memory read of size 4 bytes".
std::optional<Finding> uninitialised_read(const Record& record) {
  Scanner head(record.head);
  if (!head.word("Uninitialized __")) return std::nullopt;
  const bool shared = head.word("shared");
  if ((!shared && !head.word("global")) || !head.word("__ memory read of size ")) {
    return std::nullopt;
  }
  const std::uint64_t bytes = head.number().value_or(0);
  Finding finding = begin(record, shared ? Code("RL0206") : Code("RL0205"));
  const char* const space = shared ? "shared" : "global";
  finding.where.action = action_of("read", bytes, space);
  finding.object = fmt::format("{} memory", space);
  if (const auto at = detail(record, "Address "); at && shared) {
    if (const auto address = Scanner(*at).address()) {
      finding.object = fmt::format("byte {} of shared memory", *address);
    }
  }
  finding.message = fmt::format("A thread reads {} that nothing has written before: {}",
                                bytes_text(bytes), finding.object);
  return finding;
}

/// "Host API memory access error at host access to 0x… of size 400 bytes".
std::optional<Finding> uninitialised_copy(const Record& record) {
  Scanner head(record.head);
  if (!head.word("Host API memory access error")) return std::nullopt;
  const auto what = detail(record, "Uninitialized access at ");
  if (!what) return std::nullopt;
  Finding finding = begin(record, "RL0205");
  finding.object = "global memory";
  finding.message = "A copy reads global memory that nothing has written before";
  finding.where.by_thread = false;
  return finding;
}

/// Which race it is: what comes first, and what comes while the first is not ordered.
struct Hazard {
  const char* name;
  Code code;
  const char* first;
  const char* second;
  const char* message;
};
constexpr std::array kHazards{
    Hazard{"RAW", "RL0302", "Write", "Read",
           "A thread reads {} in the same barrier interval in which another thread writes it"},
    Hazard{"WAR", "RL0301", "Read", "Write",
           "One thread overwrites {} while another may still need the old value"},
    Hazard{"WAW", "RL0303", "Write", "Write",
           "Two threads store different values to {} without a barrier between them"}};

void set_access(AccessSite& site, std::string_view access) {
  site.writes = access == "Write";
  site.action = site.writes ? "writes to shared memory" : "reads shared memory";
}

Finding race(const Hazard& hazard, std::string object) {
  Finding finding;
  finding.code = hazard.code;
  finding.message = fmt::format(fmt::runtime(hazard.message), object);
  finding.object = std::move(object);
  finding.other.emplace();
  // As the simulated GPU tells it: where is what should have waited, other is what came first.
  set_access(finding.where, hazard.second);
  set_access(*finding.other, hazard.first);
  return finding;
}

/// "Write Thread (35,0,0) at sum(int *)+0x90 in sum.cu:44".
bool set_side(AccessSite& site, std::string& kernel, std::string_view line, const char* access) {
  Scanner scanner(line);
  if (!scanner.word(access) || !scanner.word(" Thread ")) return false;
  const auto thread = scanner.coordinates();
  if (!thread || !scanner.past("at ")) return false;
  const Place place = place_in(scanner.rest());
  set_place(site, place);
  site.thread = *thread;
  if (kernel.empty()) kernel = place.function;
  return true;
}

/// "ERROR: Potential RAW hazard detected at __shared__ 0x8c in block (0,0,0) :", as racecheck tells
/// each one with --racecheck-report hazard.
std::optional<Finding> hazard(const Record& record) {
  Scanner head(record.head);
  if (!head.past("Potential ")) return std::nullopt;
  const auto kind =
      std::ranges::find_if(kHazards, [&](const Hazard& one) { return head.word(one.name); });
  if (kind == kHazards.end() || !head.word(" hazard detected at __shared__ ")) return std::nullopt;
  const auto address = head.address();
  if (!address || !head.past("in block ") || record.details.size() < 2) return std::nullopt;
  const auto block = head.coordinates();
  // Who stores what is there already changes nothing.
  if (!block || detail(record, "Identical data being written")) return std::nullopt;
  Finding finding = race(*kind, fmt::format("byte {} of shared memory", *address));
  // Which of both lines comes first is not said.
  const bool in_order = set_side(*finding.other, finding.kernel, record.details[0], kind->first) &&
                        set_side(finding.where, finding.kernel, record.details[1], kind->second);
  const bool reversed = !in_order &&
                        set_side(*finding.other, finding.kernel, record.details[1], kind->first) &&
                        set_side(finding.where, finding.kernel, record.details[0], kind->second);
  if (!in_order && !reversed) return std::nullopt;
  finding.where.block = *block;
  finding.other->block = *block;
  return finding;
}

/// "Barrier error detected. Divergent thread(s) in block".
std::optional<Finding> barrier_error(const Record& record) {
  Scanner head(record.head);
  if (!head.word("Barrier error detected. ")) return std::nullopt;
  Finding finding = begin(record, "RL0305");
  finding.where.action = "waits at a barrier";
  if (head.word("Divergent thread(s) in block")) {
    finding.message = "Some threads of the block do not reach a barrier at which others wait";
  } else if (head.word("Divergent thread(s) in warp")) {
    finding.message = "Some threads of a warp do not reach a barrier at which others wait";
  } else if (head.word("Invalid arguments")) {
    finding.message =
        "A warp-wide operation or a barrier names threads that do not take part in it";
    finding.detail = FindingDetail::lanes_apart;
    finding.where.action = "takes part";
  } else {
    return std::nullopt;
  }
  return finding;
}

/// "Deadlock detected in Barrier called by threads starting at (0,0,0) in block (0,0,0), … at
/// kernel+0x1190 in app.cu:98".
std::optional<Finding> deadlock(const Record& record) {
  Scanner head(record.head);
  if (!head.word("Deadlock detected in ") || !head.past("threads starting at ")) {
    return std::nullopt;
  }
  const auto thread = head.coordinates();
  if (!thread || !head.word(" in block ")) return std::nullopt;
  const auto block = head.coordinates();
  if (!block) return std::nullopt;
  Finding finding;
  finding.code = "RL0306";
  finding.message = "Threads wait at a barrier that never opens";
  const std::string_view rest = head.rest();
  if (const std::size_t at = rest.rfind(" at "); at != std::string_view::npos) {
    const Place place = place_in(rest.substr(at + 4));
    set_place(finding.where, place);
    finding.kernel = place.function;
  }
  finding.where.thread = *thread;
  finding.where.block = *block;
  finding.where.action = "waits";
  return finding;
}

/// "cudaLaunchKernel" of "__cudaLaunchKernel", which nvcc makes of `<<<>>>`.
std::string_view plain_call(std::string_view call) {
  return call.substr(std::min(call.find_first_not_of('_'), call.size()));
}

/// "Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to
/// cudaMemcpy." Of errors, those that say that a call was wrong: what a kernel did comes back from
/// the next call, too. Calls of the driver (cu…) are those of libraries and of the runtime itself,
/// which ask for more than there is and go on without it.
std::optional<Finding> wrong_call(const Record& record) {
  // Of the guest; or they only repeat what another call was told.
  constexpr std::array<std::string_view, 5> kNotTheirs{
      "cudaMemPoolImportFromShareableHandle", "cudaMemPoolImportPointer", "cudaDeviceSynchronize",
      "cudaGetLastError", "cudaPeekAtLastError"};
  constexpr std::array<std::uint64_t, 5> kMisuse{1, 9, 17, 21, 400};  // driver_types.h, CUDA 13
  Scanner head(record.head);
  if (!head.word("Program hit ")) return std::nullopt;
  const std::string_view name = head.rest().substr(0, head.rest().find(' '));
  if (!head.past("(error ")) return std::nullopt;
  const auto error = head.number();
  if (!error || std::ranges::find(kMisuse, *error) == kMisuse.end() ||
      !head.past("on CUDA API call to ")) {
    return std::nullopt;
  }
  const std::string_view call = plain_call(head.rest().substr(0, head.rest().find_first_of(". ")));
  if (!call.starts_with("cuda") || std::ranges::find(kNotTheirs, call) != kNotTheirs.end()) {
    return std::nullopt;
  }
  Finding finding;
  finding.code = "RL0308";
  finding.where.by_thread = false;
  finding.where.warp = simgpu::kUnknownWarp;
  finding.message = fmt::format("{} refuses what it is called with: {}",
                                call.substr(0, kLongestName), name.substr(0, kLongestName));
  return finding;
}

std::optional<Finding> finding_in(const Record& record) {
  for (const auto read : {invalid_access, uninitialised_read, uninitialised_copy, hazard,
                          barrier_error, deadlock, wrong_call}) {
    if (auto finding = read(record)) return finding;
  }
  return std::nullopt;
}

bool is_same_mistake(const Finding& a, const Finding& b) {
  const auto same_line = [](const AccessSite& left, const AccessSite& right) {
    return left.file == right.file && left.line == right.line;
  };
  const bool others = a.other && b.other ? same_line(*a.other, *b.other)
                                         : a.other.has_value() == b.other.has_value();
  // Calls of the host have no place but their words.
  const bool messages = a.where.line > 0 || a.message == b.message;
  return a.code == b.code && a.kernel == b.kernel && same_line(a.where, b.where) && others &&
         messages;
}

}  // namespace

std::vector<Finding> findings_in(std::string_view text) {
  std::vector<Finding> findings;
  for (const Record& record : records_in(text, kMostRecords)) {
    auto finding = finding_in(record);
    if (!finding) continue;
    const auto same = std::ranges::find_if(
        findings, [&](const Finding& one) { return is_same_mistake(one, *finding); });
    if (same != findings.end()) {
      ++same->occurrences;
    } else if (findings.size() < kMostFindings) {
      findings.push_back(std::move(*finding));
    }
  }
  return findings;
}

}  // namespace rooflab::sanitizer

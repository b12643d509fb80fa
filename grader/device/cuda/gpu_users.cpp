#include "grader/device/cuda/gpu_users.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <set>
#include <utility>

#include "grader/sandbox/process_tree.h"

namespace rooflab {
namespace {

constexpr int kSuccess = 0;           // NVML_SUCCESS
constexpr int kInsufficientSize = 7;  // NVML_ERROR_INSUFFICIENT_SIZE
constexpr std::size_t kBytesV1 = 16;  // nvmlProcessInfo_v1_t: a number, and the bytes in use
constexpr std::size_t kBytesV2 = 24;  // nvmlProcessInfo_v2_t: two numbers of an instance besides
constexpr std::size_t kBytesOffset = 8;
constexpr std::size_t kLongestName = 64;
constexpr unsigned kMostProcesses = 4096;
constexpr std::uint64_t kNotAvailable = ~std::uint64_t{0};  // NVML_VALUE_NOT_AVAILABLE

/// Whether we see all processes of the machine: the first namespace has this number in every kernel
/// (PROC_PID_INIT_INO).
bool in_first_namespace() {
  constexpr ino_t kFirst = 0xEFFFFFFC;
  struct stat ours {};
  return stat("/proc/self/ns/pid", &ours) == 0 && ours.st_ino == kFirst;
}

bool runs_our_program(pid_t process) {
  struct stat ours {};
  struct stat theirs {};
  const std::string program = "/proc/" + std::to_string(process) + "/exe";
  return stat("/proc/self/exe", &ours) == 0 && stat(program.c_str(), &theirs) == 0 &&
         ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

/// Ours and what we started.
std::set<pid_t> own_processes() {
  std::set<pid_t> own{getpid()};
  for (const pid_t process : descendants(getpid())) own.insert(process);
  return own;
}

bool is_ours(const std::set<pid_t>& own, std::uint32_t pid) {
  const auto process = static_cast<pid_t>(pid);
  return own.contains(process) || runs_our_program(process);
}

/// The program's name alone: where it lies and its arguments are its user's business.
std::string name_in(const std::string& command) {
  std::string name = command.substr(0, command.find(' '));
  name.erase(0, name.rfind('/') + 1);
  std::ranges::replace_if(
      name, [](char letter) { return letter < ' ' || letter > '~'; }, '?');
  return name.substr(0, kLongestName);
}

}  // namespace

GpuUsers::GpuUsers(const ClockWatch& nvml) : device_(nvml.device()) {
  const auto find = [&nvml](const std::string& name) { return nvml.function(name.c_str()); };
  // Not _v3: some releases 535 give its entries another size by the same name. Those of _v2 have
  // had theirs in all releases.
  has_instances_ = find("nvmlDeviceGetComputeRunningProcesses_v2") != nullptr;
  const std::string version = has_instances_ ? "_v2" : "";
  list_compute_ =
      reinterpret_cast<ListProcesses>(find("nvmlDeviceGetComputeRunningProcesses" + version));
  list_graphics_ =
      reinterpret_cast<ListProcesses>(find("nvmlDeviceGetGraphicsRunningProcesses" + version));
  process_name_ = reinterpret_cast<decltype(process_name_)>(find("nvmlSystemGetProcessName"));
  utilization_ = reinterpret_cast<decltype(utilization_)>(find("nvmlDeviceGetProcessUtilization"));
}

std::vector<GpuUsers::Process> GpuUsers::processes_of(ListProcesses list) const {
  if (list == nullptr) return {};
  const std::size_t stride = has_instances_ ? kBytesV2 : kBytesV1;
  unsigned room = 64;
  for (;;) {
    std::vector<std::byte> bytes(room * stride);
    unsigned count = room;
    const int error = list(device_, &count, bytes.data());
    if (error == kInsufficientSize && count > room && count <= kMostProcesses) {
      room = count + 16;  // others may come meanwhile
      continue;
    }
    if (error != kSuccess) return {};
    std::vector<Process> processes(std::min(count, room));
    for (std::size_t i = 0; i < processes.size(); ++i) {
      const std::byte* entry = bytes.data() + i * stride;
      std::memcpy(&processes[i].pid, entry, sizeof processes[i].pid);
      std::memcpy(&processes[i].memory_bytes, entry + kBytesOffset, sizeof(std::uint64_t));
    }
    return processes;
  }
}

std::string GpuUsers::name_of(std::uint32_t pid) const {
  std::array<char, 256> text{};
  if (process_name_ == nullptr || process_name_(pid, text.data(), text.size() - 1) != kSuccess) {
    return {};
  }
  return name_in(text.data());
}

GpuUsers::Seen GpuUsers::look() {
  const std::set<pid_t> own = own_processes();
  sees_us_ = false;
  others_.clear();
  for (const ListProcesses list : {list_compute_, list_graphics_}) {
    for (const Process& process : processes_of(list)) {
      sees_us_ = sees_us_ || static_cast<pid_t>(process.pid) == getpid();
      if (is_ours(own, process.pid)) continue;
      const std::uint64_t bytes = process.memory_bytes == kNotAvailable ? 0 : process.memory_bytes;
      others_[process.pid] = std::max(others_[process.pid], bytes);
    }
  }
  // A list without us is of another namespace's numbers, which may be anybody's here.
  if (!sees_us_) return {};
  Seen seen{.all = in_first_namespace(), .others = {}};
  for (const auto& [pid, bytes] : others_) {
    seen.others.push_back({.pid = pid, .name = name_of(pid), .memory_bytes = bytes});
  }
  return seen;
}

std::vector<GpuUsers::Utilization> GpuUsers::utilization_since(unsigned long long time_us) const {
  if (utilization_ == nullptr) return {};
  unsigned room = 256;
  for (;;) {
    std::vector<Utilization> samples(room);
    unsigned count = room;
    const int error = utilization_(device_, samples.data(), &count, time_us);
    if (error == kInsufficientSize && count > room && count <= kMostProcesses) {
      room = count + 16;
      continue;
    }
    samples.resize(error == kSuccess ? std::min(count, room) : 0);
    return samples;
  }
}

bool GpuUsers::others_computed() {
  const std::vector<Utilization> samples = utilization_since(last_seen_us_);
  const bool begins = !std::exchange(has_begun_, true);
  if (samples.empty() || !sees_us_) return false;
  const std::set<pid_t> own = own_processes();
  // Elsewhere a number that no list had may be one of the first namespace: of our guest, say.
  const auto is_other = [&](std::uint32_t pid) {
    return !is_ours(own, pid) && (in_first_namespace() || others_.contains(pid));
  };
  bool computed = false;
  const unsigned long long before = last_seen_us_;
  for (const Utilization& sample : samples) {
    last_seen_us_ = std::max(last_seen_us_, sample.time_us);
    const bool is_new = sample.time_us > before && sample.sm > 0;
    computed = computed || (is_new && is_other(sample.pid));
  }
  return computed && !begins;
}

}  // namespace rooflab

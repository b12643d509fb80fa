// Stands in for NVIDIA's management library: one GPU at 0000:65:00.0. What slows it down is
// $ROOFLAB_FAKE_NVML_REASONS, a list of NVML's bits ("0,32,0"), from which each question takes the
// next, and begins anew after the last. Without it nothing does. Each question for the clock takes
// $ROOFLAB_FAKE_NVML_MS milliseconds. The clock is 1305 MHz, or what $ROOFLAB_FAKE_NVML_MHZ lists
// in the same way; it rises from 300 MHz within $ROOFLAB_FAKE_NVML_RAMP_MS of the start. The
// process itself uses the GPU, and process 1 beside it where $ROOFLAB_FAKE_NVML_OTHER is "compute"
// or "graphics"; with "nobody" nothing is listed. How much process 1 uses of the SMs is
// $ROOFLAB_FAKE_NVML_SM, a list.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// How often each list was asked since the start.
std::map<std::string, unsigned>& questions() {
  static std::map<std::string, unsigned> all;
  return all;
}

/// The next number of a list in the environment: "0,0x20"; `otherwise` where there is none.
unsigned long long next_of(const char* variable, unsigned long long otherwise) {
  const char* list = std::getenv(variable);
  if (list == nullptr || *list == '\0') return otherwise;
  unsigned count = 1;
  for (const char* at = list; *at != '\0'; ++at) count += *at == ',' ? 1 : 0;
  // Not by [], whose code would keep the library from ever being unloaded (STB_GNU_UNIQUE).
  unsigned& asked = questions().insert({variable, 0}).first->second;
  for (unsigned skip = asked++ % count; skip > 0; --skip) list = std::strchr(list, ',') + 1;
  return std::strtoull(list, nullptr, 0);
}

using Clock = std::chrono::steady_clock;
Clock::time_point begin;

/// How far a clock has risen: 0 to 1.
double risen() {
  const char* milliseconds = std::getenv("ROOFLAB_FAKE_NVML_RAMP_MS");
  if (milliseconds == nullptr) return 1;
  const std::chrono::duration<double, std::milli> since = Clock::now() - begin;
  return std::min(since.count() / std::atoi(milliseconds), 1.0);
}

/// As NVML's, the second version.
struct ProcessInfo {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct ProcessUtilization {
  unsigned pid;
  unsigned long long time_us;
  unsigned sm;
  unsigned memory;
  unsigned encoder;
  unsigned decoder;
};

bool other_is(const char* what) {
  const char* other = std::getenv("ROOFLAB_FAKE_NVML_OTHER");
  return other != nullptr && std::strcmp(other, what) == 0;
}

int list_processes(const std::vector<ProcessInfo>& processes, unsigned* count, ProcessInfo* infos) {
  const unsigned room = std::exchange(*count, static_cast<unsigned>(processes.size()));
  if (processes.size() > room) return 7;  // insufficient size
  std::ranges::copy(processes, infos);
  return 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  begin = Clock::now();
  questions().clear();
  return 0;
}
int nvmlShutdown() { return 0; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  static int gpu = 0;
  if (std::strcmp(address, "0000:65:00.0") != 0) return 6;  // not found
  *device = &gpu;
  return 0;
}

int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  if (const char* milliseconds = std::getenv("ROOFLAB_FAKE_NVML_MS")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(milliseconds)));
  }
  const double top = static_cast<double>(next_of("ROOFLAB_FAKE_NVML_MHZ", 1305));
  *mhz = type == 1 ? static_cast<unsigned>(300 + risen() * (top - 300)) : 0;
  return 0;
}

// By the name that drivers before release 535 have for it.
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = next_of("ROOFLAB_FAKE_NVML_REASONS", 0);
  return 0;
}

/// A slice of that GPU, in its second instance.
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  static int slice = 0;
  if (std::strncmp(uuid, "MIG-", 4) != 0) return 6;
  *device = &slice;
  return 0;
}

int nvmlDeviceGetMinorNumber(void*, unsigned* minor) {
  *minor = 3;
  return 0;
}

int nvmlDeviceGetGpuInstanceId(void*, unsigned* id) {
  *id = 2;
  return 0;
}

int nvmlDeviceGetComputeInstanceId(void*, unsigned* id) {
  *id = 0;
  return 0;
}

int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::snprintf(text, length, "580.82.07");
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v2(void*, unsigned* count, ProcessInfo* infos) {
  std::vector<ProcessInfo> processes;
  const auto self = static_cast<unsigned>(getpid());
  if (!other_is("nobody")) processes.push_back({self, 600ULL << 20, ~0U, ~0U});
  if (other_is("compute")) processes.push_back({1, 3ULL << 30, ~0U, ~0U});
  return list_processes(processes, count, infos);
}

int nvmlDeviceGetGraphicsRunningProcesses_v2(void*, unsigned* count, ProcessInfo* infos) {
  std::vector<ProcessInfo> processes;
  if (other_is("graphics")) processes.push_back({1, ~0ULL, ~0U, ~0U});  // bytes: not available
  return list_processes(processes, count, infos);
}

int nvmlSystemGetProcessName(unsigned pid, char* text, unsigned length) {
  if (pid != 1) return 6;  // not found
  std::snprintf(text, length, "/opt/somewhere/python3 train.py --secret");
  return 0;
}

int nvmlDeviceGetProcessUtilization(void*, ProcessUtilization* samples, unsigned* count,
                                    unsigned long long last_seen_us) {
  const auto sm = static_cast<unsigned>(next_of("ROOFLAB_FAKE_NVML_SM", 0));
  if (sm == 0 || *count < 1) return 6;  // nothing new
  samples[0] = {1, last_seen_us + 1, sm, 0, 0, 0};
  *count = 1;
  return 0;
}

}  // extern "C"

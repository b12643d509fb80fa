// Stands in for NVIDIA's management library: one GPU at 0000:65:00.0. What slows it down is
// $ROOFLAB_FAKE_NVML_REASONS, a list of NVML's bits ("0,32,0"), from which each question takes the
// next, and begins anew after the last. Without it nothing does. Each question for the clock takes
// $ROOFLAB_FAKE_NVML_MS milliseconds. The clock is 1305 MHz, or what $ROOFLAB_FAKE_NVML_MHZ lists in
// the same way; it rises from 300 MHz within $ROOFLAB_FAKE_NVML_RAMP_MS of the first question.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

/// The next number of a list in the environment: "0,0x20"; `otherwise` where there is none.
unsigned long long next_of(const char* variable, unsigned& asked, unsigned long long otherwise) {
  const char* list = std::getenv(variable);
  if (list == nullptr || *list == '\0') return otherwise;
  unsigned count = 1;
  for (const char* at = list; *at != '\0'; ++at) count += *at == ',' ? 1 : 0;
  for (unsigned skip = asked++ % count; skip > 0; --skip) list = std::strchr(list, ',') + 1;
  return std::strtoull(list, nullptr, 0);
}

/// How far a clock has risen: 0 to 1.
double risen() {
  using Clock = std::chrono::steady_clock;
  static const Clock::time_point first = Clock::now();
  const char* milliseconds = std::getenv("ROOFLAB_FAKE_NVML_RAMP_MS");
  if (milliseconds == nullptr) return 1;
  const std::chrono::duration<double, std::milli> since = Clock::now() - first;
  return std::min(since.count() / std::atoi(milliseconds), 1.0);
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
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
  static unsigned asked = 0;
  const double top = static_cast<double>(next_of("ROOFLAB_FAKE_NVML_MHZ", asked, 1305));
  *mhz = type == 1 ? static_cast<unsigned>(300 + risen() * (top - 300)) : 0;
  return 0;
}

// By the name that drivers before release 535 have for it.
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  static unsigned asked = 0;
  *reasons = next_of("ROOFLAB_FAKE_NVML_REASONS", asked, 0);
  return 0;
}

int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::snprintf(text, length, "580.82.07");
  return 0;
}

}  // extern "C"

// Stands in for NVIDIA's management library: one GPU at 0000:65:00.0. What slows it down is
// $ROOFLAB_FAKE_NVML_REASONS, a list of NVML's bits ("0,32,0"), from which each question takes the
// next, and begins anew after the last. Without it nothing does. Each question for the clock takes
// $ROOFLAB_FAKE_NVML_MS milliseconds.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

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
  *mhz = type == 1 ? 1305 : 0;
  return 0;
}

// By the name that drivers before release 535 have for it.
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  static unsigned asked = 0;
  const char* list = std::getenv("ROOFLAB_FAKE_NVML_REASONS");
  *reasons = 0;
  if (list == nullptr || *list == '\0') return 0;
  unsigned count = 1;
  for (const char* at = list; *at != '\0'; ++at) count += *at == ',' ? 1 : 0;
  for (unsigned skip = asked++ % count; skip > 0; --skip) list = std::strchr(list, ',') + 1;
  *reasons = std::strtoull(list, nullptr, 0);
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

}  // extern "C"

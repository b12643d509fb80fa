// Stands in for NVIDIA's management library: one GPU at 0000:65:00.0, hot and slow.
#include <cstdio>
#include <cstring>

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
  *mhz = type == 1 ? 1305 : 0;
  return 0;
}

// By the name that drivers before release 535 have for it.
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 0x20 | 0x4;
  return 0;
}

int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::snprintf(text, length, "580.82.07");
  return 0;
}

}  // extern "C"

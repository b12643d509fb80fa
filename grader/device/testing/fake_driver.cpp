// Stands in for NVIDIA's driver where there is no GPU: says that there is one of 40 GiB.
#include <cstddef>
#include <cstdio>

extern "C" {

int cuInit(unsigned) { return 0; }

int cuDeviceGetName(char* name, int length, int) {
  std::snprintf(name, static_cast<std::size_t>(length), "Pretended GPU");
  return 0;
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = 42'000'000'000;
  return 0;
}

}  // extern "C"

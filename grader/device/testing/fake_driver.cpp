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

int cuDeviceGetUuid_v2(unsigned char* uuid, int) {
  for (int i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(0x10 + i);
  return 0;
}

}  // extern "C"

// Stands in for NVIDIA's driver where there is no GPU: says that there are some of 40 GiB.
#include <cstddef>
#include <cstdio>

#include "grader/device/testing/fake_gpus.h"

namespace fake = rooflab::fake;

extern "C" {

int cuInit(unsigned) { return fake::failure_of("cuInit"); }

int cuDeviceGetName(char* name, int length, int device) {
  const auto gpu = static_cast<std::size_t>(fake::visible().at(static_cast<std::size_t>(device)));
  const std::string names = fake::setting("ROOFLAB_FAKE_CUDA_NAMES", "NVIDIA A100-PCIE-40GB");
  std::snprintf(name, static_cast<std::size_t>(length), "%s", fake::element(names, gpu).c_str());
  return 0;
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = 42'000'000'000;
  return 0;
}

int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  fake::write_uuid(fake::visible().at(static_cast<std::size_t>(device)), uuid);
  return 0;
}

/// Of the whole GPU, where cuDeviceGetUuid_v2 is of a part of it.
int cuDeviceGetUuid(unsigned char* uuid, int device) {
  cuDeviceGetUuid_v2(uuid, device);
  if (!fake::setting("ROOFLAB_FAKE_CUDA_IS_SLICE").empty()) uuid[0] = 0xff;
  return 0;
}

}  // extern "C"

#include <cstdio>
#include <cstring>

#include "simgpu/runtime/api.h"

/// What a program asks that looks for further devices: there is one, at 0000:00:00.0.
namespace simgpu::runtime {
namespace {

constexpr const char* kBusId = "0000:00:00.0";

int need_devices(int first, int second) {
  if (!Client::instance().connected()) return cudaErrorNoDevice;
  return first == 0 && second == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

}  // namespace
}  // namespace simgpu::runtime

namespace runtime = simgpu::runtime;
using runtime::api;
using runtime::need_devices;

extern "C" {

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return api([&] {
    if (can == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    *can = 0;  // a device is not its own peer
    return need_devices(device, peer);
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int /*peer*/, unsigned flags) {
  return api([&] {
    if (const int error = need_devices(0, 0); error != 0) return error;
    return static_cast<int>(flags != 0 ? cudaErrorInvalidValue : cudaErrorInvalidDevice);
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return api([&] {
    if (const int error = need_devices(peer, peer); error != 0) return error;
    return static_cast<int>(cudaErrorPeerAccessNotEnabled);
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr /*attribute*/, int /*source*/,
                                      int /*destination*/) {
  return api([&] {
    if (value == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    if (const int error = need_devices(0, 0); error != 0) return error;
    return static_cast<int>(cudaErrorInvalidDevice);  // it wants two devices
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  return api([&] {
    if (text == nullptr || bytes <= 0) return static_cast<int>(cudaErrorInvalidValue);
    const int error = need_devices(device, 0);
    if (error == 0) std::snprintf(text, static_cast<size_t>(bytes), "%s", runtime::kBusId);
    return error;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return api([&] {
    if (device == nullptr || text == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    if (const int error = need_devices(0, 0); error != 0) return error;
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    const bool known = std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4 ||
                       std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) == 3 ||
                       std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) == 3;
    if (!known) return static_cast<int>(cudaErrorInvalidValue);
    if (domain != 0 || bus != 0 || slot != 0 || function != 0) {
      return static_cast<int>(cudaErrorInvalidDevice);
    }
    *device = 0;
    return 0;
  });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return api([&] {
    if (device == nullptr || wanted == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    *device = 0;
    return need_devices(0, 0);
  });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return api([&] {
    if (count < 0 || (count > 0 && devices == nullptr)) {
      return static_cast<int>(cudaErrorInvalidValue);
    }
    for (int i = 0; i < count; ++i) {
      if (const int error = need_devices(devices[i], 0); error != 0) return error;
    }
    return need_devices(0, 0);
  });
}

cudaError_t cudaMemcpyPeer(void* destination, int destination_device, const void* source,
                           int source_device, size_t bytes) {
  const cudaError_t error = api([&] { return need_devices(destination_device, source_device); });
  return error != cudaSuccess ? error : cudaMemcpy(destination, source, bytes, cudaMemcpyDefault);
}

cudaError_t cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source,
                                int source_device, size_t bytes, cudaStream_t stream) {
  const cudaError_t error = api([&] { return need_devices(destination_device, source_device); });
  if (error != cudaSuccess) return error;
  return cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, stream);
}

}  // extern "C"

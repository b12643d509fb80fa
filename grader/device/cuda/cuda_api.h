#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace rooflab {

/// NVIDIA's driver and runtime, loaded when they are first needed, so that the grader starts on
/// machines that have neither. Every function throws DeviceError on failure, unless it says
/// otherwise.
class CudaApi {
 public:
  /// @param libraries directory to look into before the loader's path; may be empty.
  /// @throws DeviceError naming the library that is missing and the remedy.
  static std::shared_ptr<const CudaApi> load(const std::filesystem::path& libraries);

  /// What identifies a GPU to a person and to the search for its specification.
  struct Description {
    std::string name;         ///< as the driver says it, "NVIDIA H200"
    std::string pci_address;  ///< "0000:65:00.0"
    std::string uuid;         ///< "GPU-8c4d1f20-…"; empty when the driver does not say
    int capability_major = 0;
    int capability_minor = 0;
    int sm_count = 0;
    std::size_t memory_bytes = 0;
    std::size_t l2_bytes = 0;
  };

  int device_count() const;
  Description describe(int device) const;
  void use(int device) const;

  void* allocate(std::size_t bytes) const;
  void release(void* address) const noexcept;
  void copy_to_device(void* to, const void* from, std::size_t bytes) const;
  void copy_to_host(void* to, const void* from, std::size_t bytes) const;
  void fill(void* address, int byte, std::size_t bytes) const;
  void synchronize() const;
  /// Handle by which another process opens an allocation, in hexadecimal.
  std::string ipc_handle(void* address) const;

 private:
  struct CloseLibrary {
    void operator()(void* library) const;
  };
  using Library = std::unique_ptr<void, CloseLibrary>;

  static Library open(const std::filesystem::path& directory, const char* name);
  void check(cudaError_t error, const char* what) const;
  std::size_t attribute(cudaDeviceAttr which, int device) const;

  Library driver_;
  Library runtime_;

  // Types of the toolkit's own declarations; the pointers come from the library that was loaded.
  decltype(&cudaGetErrorName) get_error_name_ = nullptr;
  decltype(&cudaGetDeviceCount) get_device_count_ = nullptr;
  decltype(&cudaSetDevice) set_device_ = nullptr;
  decltype(&cudaDeviceGetAttribute) device_get_attribute_ = nullptr;
  decltype(&cudaDeviceGetPCIBusId) device_get_pci_bus_id_ = nullptr;
  decltype(&cudaDeviceSynchronize) device_synchronize_ = nullptr;
  cudaError_t (*malloc_)(void**, std::size_t) = nullptr;  // overloaded in the header
  decltype(&cudaFree) free_ = nullptr;
  decltype(&cudaMemcpy) memcpy_ = nullptr;
  decltype(&cudaMemset) memset_ = nullptr;
  decltype(&cudaIpcGetMemHandle) ipc_get_mem_handle_ = nullptr;
  int (*driver_init_)(unsigned) = nullptr;
  int (*driver_device_get_name_)(char*, int, int) = nullptr;
  int (*driver_device_total_mem_)(std::size_t*, int) = nullptr;
  int (*driver_device_get_uuid_)(unsigned char*, int) = nullptr;  // old drivers have none
};

}  // namespace rooflab

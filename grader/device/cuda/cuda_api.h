#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "grader/posix/descriptor.h"

namespace rooflab {

/// $CUDA_MPS_PIPE_DIRECTORY of our process and of its guests: no such folder. Else ours would join
/// the daemon of CUDA's Multi-Process Service that listens in /tmp/nvidia-mps, a folder that no
/// guest sees, and the two would not share memory.
inline constexpr const char* kNoMps = "/nonexistent/rooflab-uses-no-mps";

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
    /// "GPU-8c4d1f20-…", or "MIG-…" of a part of a divided GPU; empty when the driver does not say
    std::string uuid;
    int capability_major = 0;
    int capability_minor = 0;
    int sm_count = 0;
    std::size_t memory_bytes = 0;
    std::size_t l2_bytes = 0;
  };

  /// @throws DeviceError, also for a driver that is older than the runtime.
  int device_count() const;
  /// "supports CUDA 13.0, the toolkit is 13.0".
  std::string versions() const;
  /// Whether the driver loads PTX that the toolkit makes now. One that is older runs its machine
  /// code alone.
  bool loads_ptx() const;
  /// The library that was loaded as the driver, wherever the loader found it; empty when unknown.
  std::filesystem::path driver_file() const;
  Description describe(int device) const;
  /// @throws DeviceError when the GPU lets in one process or none.
  void require_default_mode(int device) const;
  /// @throws DeviceError when no process could open memory of ours.
  void require_shared_pools(int device) const;
  void use(int device) const;

  /// A pool of the GPU's memory that another process can open by a descriptor.
  cudaMemPool_t make_pool(int device) const;
  /// Waits for the GPU, then gives the pool back. Memory taken from it has to be released before.
  void release_pool(cudaMemPool_t pool) const noexcept;
  /// The descriptor of a pool: who has it may open what lies in the pool.
  Descriptor export_pool(cudaMemPool_t pool) const;

  /// Memory of a pool, there for all of the GPU's work after the next synchronize().
  void* allocate(cudaMemPool_t pool, std::size_t bytes) const;
  void release(void* address) const noexcept;
  /// What another process needs to find memory in the pool that it opened, in hexadecimal.
  std::string export_pointer(void* address) const;

  void copy_to_device(void* to, const void* from, std::size_t bytes) const;
  void copy_on_device(void* to, const void* from, std::size_t bytes) const;
  void copy_to_host(void* to, const void* from, std::size_t bytes) const;
  void fill(void* address, int byte, std::size_t bytes) const;
  /// Has lines of the L2 cache that were to stay there be replaced as any others. A GPU that knows
  /// no such lines may say that it does not, and then there is nothing to be done.
  void reset_persisting_lines() const noexcept { reset_persisting_l2_(); }
  void synchronize() const;

 private:
  struct CloseLibrary {
    void operator()(void* library) const;
  };
  using Library = std::unique_ptr<void, CloseLibrary>;

  static Library open(const std::filesystem::path& directory, const char* name);
  void check(cudaError_t error, const char* what) const;
  [[noreturn]] void throw_driver_too_old() const;
  std::size_t attribute(cudaDeviceAttr which, int device) const;

  Library driver_;
  Library runtime_;

  // Types of the toolkit's own declarations; the pointers come from the library that was loaded.
  decltype(&cudaGetErrorName) get_error_name_ = nullptr;
  decltype(&cudaGetDeviceCount) get_device_count_ = nullptr;
  decltype(&cudaDriverGetVersion) driver_get_version_ = nullptr;
  decltype(&cudaRuntimeGetVersion) runtime_get_version_ = nullptr;
  decltype(&cudaSetDevice) set_device_ = nullptr;
  decltype(&cudaDeviceGetAttribute) device_get_attribute_ = nullptr;
  decltype(&cudaDeviceGetPCIBusId) device_get_pci_bus_id_ = nullptr;
  decltype(&cudaDeviceSynchronize) device_synchronize_ = nullptr;
  decltype(&cudaMemPoolCreate) mem_pool_create_ = nullptr;
  decltype(&cudaMemPoolDestroy) mem_pool_destroy_ = nullptr;
  decltype(&cudaMemPoolExportToShareableHandle) mem_pool_export_ = nullptr;
  decltype(&cudaMemPoolExportPointer) mem_pool_export_pointer_ = nullptr;
  decltype(&cudaMallocFromPoolAsync) malloc_from_pool_async_ = nullptr;
  decltype(&cudaFreeAsync) free_async_ = nullptr;
  decltype(&cudaMemcpy) memcpy_ = nullptr;
  decltype(&cudaMemset) memset_ = nullptr;
  decltype(&cudaCtxResetPersistingL2Cache) reset_persisting_l2_ = nullptr;
  int (*driver_init_)(unsigned) = nullptr;
  int (*driver_device_get_name_)(char*, int, int) = nullptr;
  int (*driver_device_total_mem_)(std::size_t*, int) = nullptr;
  int (*driver_device_get_uuid_)(unsigned char*, int) = nullptr;  // old drivers have none
  int (*driver_whole_device_get_uuid_)(unsigned char*, int) = nullptr;
};

}  // namespace rooflab

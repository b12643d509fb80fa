#include "grader/device/cuda/cuda_api.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>

#include <array>
#include <span>
#include <utility>

#include "grader/contract/cuda_libraries.h"
#include "grader/device/device.h"

namespace rooflab {
namespace {

constexpr const char* kUseSimulated = "use --device sim";

std::string cuda_name() { return "CUDA " + std::to_string(cuda_major()); }

/// The first driver whose CUDA has that major version (CUDA Toolkit Release Notes, "CUDA Driver").
int oldest_driver() { return cuda_major() >= 13 ? 580 : 525; }

template <typename Pointer>
void find(void* library, const char* name, Pointer& pointer) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) {
    throw DeviceError(std::string("the CUDA library has no ") + name + ": it is not the one of " +
                      cuda_name() + "; install that, or " + kUseSimulated);
  }
  pointer = reinterpret_cast<Pointer>(symbol);
}

std::string hexadecimal(std::span<const unsigned char> bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

/// "-8c4d1f20-0000-0000-0000-000000000000", as nvidia-smi -L ends its lines.
std::string uuid_text(const std::array<unsigned char, 16>& bytes) {
  std::string text = hexadecimal(bytes);
  for (const std::size_t at : {20U, 16U, 12U, 8U, 0U}) text.insert(at, "-");
  return text;
}

/// Why a library was not loaded: it is not there, or what the loader says of the one that is.
std::string why_not(const std::string& name) {
  const char* said = dlerror();
  const std::string reason = said == nullptr ? "" : said;
  const bool missing = reason.empty() || reason.starts_with(name + ": cannot open");
  return name + (missing ? " not found" : " does not load (" + reason + ")");
}

/// "12.4" of 12040.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

struct InitFailure {
  int error;
  const char* reason;
  const char* remedy;
};

/// Of cuInit, by what the driver's API says of each (CUresult).
constexpr InitFailure kInitFailures[] = {
    {100, "the driver finds no GPU",
     "start the container with its GPUs (docker run --gpus all), and see what "
     "CUDA_VISIBLE_DEVICES says"},
    {802, "the system is not ready, as while its NVSwitches are not set up",
     "start nvidia-fabricmanager"},
    {803, "the driver's library and its kernel module are of different releases",
     "restart the machine, or load the new kernel module"},
    {804, "a compatibility library (cuda-compat) was loaded that this GPU does not allow",
     "remove its folder from LD_LIBRARY_PATH and install driver 580 or later"},
    {999, "the driver cannot reach its kernel modules",
     "run `nvidia-modprobe -u -c 0` as root, and see whether nvidia-smi works"},
};

[[noreturn]] void throw_not_started(int error) {
  std::string reason = "the NVIDIA driver does not start (cuInit returned " + std::to_string(error);
  std::string remedy = "see whether nvidia-smi works";
  for (const InitFailure& failure : kInitFailures) {
    if (failure.error != error) continue;
    reason += std::string(": ") + failure.reason;
    remedy = failure.remedy;
  }
  throw DeviceError(reason + "); " + remedy + ", or " + kUseSimulated);
}

}  // namespace

void CudaApi::CloseLibrary::operator()(void* library) const { dlclose(library); }

CudaApi::Library CudaApi::open(const std::filesystem::path& directory, const char* name) {
  if (const auto preferred = directory / name;
      !directory.empty() && std::filesystem::exists(preferred)) {
    return Library(dlopen(preferred.c_str(), RTLD_NOW | RTLD_LOCAL));
  }
  return Library(dlopen(name, RTLD_NOW | RTLD_LOCAL));
}

std::shared_ptr<const CudaApi> CudaApi::load(const std::filesystem::path& libraries) {
  auto api = std::make_shared<CudaApi>();
  // We compile nothing for a GPU, and the driver would make a folder ~/.nv for it.
  setenv("CUDA_CACHE_DISABLE", "1", 0);
  setenv("CUDA_MPS_PIPE_DIRECTORY", kNoMps, 1);
  api->driver_ = open(libraries, "libcuda.so.1");
  if (!api->driver_) {
    throw DeviceError("no NVIDIA driver: " + why_not("libcuda.so.1") + "; " + kUseSimulated);
  }
  const std::string runtime = cuda_library("cudart");
  api->runtime_ = open(libraries, runtime.c_str());
  if (!api->runtime_) {
    throw DeviceError("no " + cuda_name() + " runtime: " + why_not(runtime) + "; install the " +
                      cuda_name() + " toolkit, or " + kUseSimulated);
  }
  find(api->driver_.get(), "cuInit", api->driver_init_);
  find(api->driver_.get(), "cuDeviceGetName", api->driver_device_get_name_);
  find(api->driver_.get(), "cuDeviceTotalMem_v2", api->driver_device_total_mem_);
  // Parts of a divided GPU (MIG) have one each.
  api->driver_device_get_uuid_ = reinterpret_cast<decltype(driver_device_get_uuid_)>(
      dlsym(api->driver_.get(), "cuDeviceGetUuid_v2"));
  api->driver_whole_device_get_uuid_ = reinterpret_cast<decltype(driver_whole_device_get_uuid_)>(
      dlsym(api->driver_.get(), "cuDeviceGetUuid"));
  find(api->runtime_.get(), "cudaGetErrorName", api->get_error_name_);
  find(api->runtime_.get(), "cudaGetDeviceCount", api->get_device_count_);
  find(api->runtime_.get(), "cudaDriverGetVersion", api->driver_get_version_);
  find(api->runtime_.get(), "cudaRuntimeGetVersion", api->runtime_get_version_);
  find(api->runtime_.get(), "cudaSetDevice", api->set_device_);
  find(api->runtime_.get(), "cudaDeviceGetAttribute", api->device_get_attribute_);
  find(api->runtime_.get(), "cudaDeviceGetPCIBusId", api->device_get_pci_bus_id_);
  find(api->runtime_.get(), "cudaDeviceSynchronize", api->device_synchronize_);
  find(api->runtime_.get(), "cudaMemPoolCreate", api->mem_pool_create_);
  find(api->runtime_.get(), "cudaMemPoolDestroy", api->mem_pool_destroy_);
  find(api->runtime_.get(), "cudaMemPoolExportToShareableHandle", api->mem_pool_export_);
  find(api->runtime_.get(), "cudaMemPoolExportPointer", api->mem_pool_export_pointer_);
  find(api->runtime_.get(), "cudaMallocFromPoolAsync", api->malloc_from_pool_async_);
  find(api->runtime_.get(), "cudaFreeAsync", api->free_async_);
  find(api->runtime_.get(), "cudaMemcpy", api->memcpy_);
  find(api->runtime_.get(), "cudaMemset", api->memset_);
  find(api->runtime_.get(), "cudaCtxResetPersistingL2Cache", api->reset_persisting_l2_);
  if (const int error = api->driver_init_(0); error != 0) {
    throw_not_started(error);
  }
  return api;
}

void CudaApi::check(cudaError_t error, const char* what) const {
  if (error != cudaSuccess) {
    const char* name = get_error_name_(error);
    throw DeviceError(std::string(what) + " failed with " +
                      (name == nullptr ? "an unknown error" : name) +
                      "; see whether nvidia-smi works, or " + kUseSimulated);
  }
}

std::size_t CudaApi::attribute(cudaDeviceAttr which, int device) const {
  int value = 0;
  check(device_get_attribute_(&value, which, device), "cudaDeviceGetAttribute");
  return value < 0 ? 0 : static_cast<std::size_t>(value);
}

int CudaApi::device_count() const {
  int count = 0;
  const cudaError_t error = get_device_count_(&count);
  if (error == cudaErrorInsufficientDriver) throw_driver_too_old();
  if (error == cudaErrorNoDevice) return 0;
  check(error, "cudaGetDeviceCount");
  return count;
}

std::string CudaApi::versions() const {
  int driver = 0, runtime = 0;
  check(driver_get_version_(&driver), "cudaDriverGetVersion");
  check(runtime_get_version_(&runtime), "cudaRuntimeGetVersion");
  return "supports CUDA " + version_text(driver) + ", and the toolkit is " + version_text(runtime);
}

bool CudaApi::loads_ptx() const {
  int driver = 0, runtime = 0;
  check(driver_get_version_(&driver), "cudaDriverGetVersion");
  check(runtime_get_version_(&runtime), "cudaRuntimeGetVersion");
  return driver >= runtime;
}

void CudaApi::throw_driver_too_old() const {
  int driver = 0, runtime = 0;
  check(driver_get_version_(&driver), "cudaDriverGetVersion");
  check(runtime_get_version_(&runtime), "cudaRuntimeGetVersion");
  const std::string toolkit = version_text(runtime);
  std::string package = "cuda-compat-" + toolkit;
  package.replace(package.find('.'), 1, "-");
  throw DeviceError("the NVIDIA driver is too old: it supports CUDA " + version_text(driver) +
                    ", and the toolkit is " + toolkit + "; install driver " +
                    std::to_string(oldest_driver()) + " or later, or " + package +
                    " where the GPU allows it, or " + kUseSimulated);
}

std::filesystem::path CudaApi::driver_file() const {
  link_map* map = nullptr;
  const bool known = dlinfo(driver_.get(), RTLD_DI_LINKMAP, &map) == 0 && map != nullptr;
  return known ? std::filesystem::path(map->l_name) : std::filesystem::path();
}

CudaApi::Description CudaApi::describe(int device) const {
  Description description;
  std::array<char, 256> name{};
  if (driver_device_get_name_(name.data(), static_cast<int>(name.size()) - 1, device) != 0 ||
      driver_device_total_mem_(&description.memory_bytes, device) != 0) {
    throw DeviceError("the NVIDIA driver does not describe GPU " + std::to_string(device) + "; " +
                      kUseSimulated);
  }
  description.name = name.data();
  std::array<unsigned char, 16> uuid{};
  if (driver_device_get_uuid_ != nullptr && driver_device_get_uuid_(uuid.data(), device) == 0) {
    // Of a part of a divided GPU the newer function names the part, and the older one the whole.
    std::array<unsigned char, 16> whole = uuid;
    if (driver_whole_device_get_uuid_ != nullptr) {
      driver_whole_device_get_uuid_(whole.data(), device);
    }
    const bool is_slice = whole != uuid || description.name.find(" MIG ") != std::string::npos;
    description.uuid = (is_slice ? "MIG" : "GPU") + uuid_text(uuid);
  }
  std::array<char, 64> address{};
  check(device_get_pci_bus_id_(address.data(), static_cast<int>(address.size()), device),
        "cudaDeviceGetPCIBusId");
  description.pci_address = address.data();
  description.capability_major =
      static_cast<int>(attribute(cudaDevAttrComputeCapabilityMajor, device));
  description.capability_minor =
      static_cast<int>(attribute(cudaDevAttrComputeCapabilityMinor, device));
  description.sm_count = static_cast<int>(attribute(cudaDevAttrMultiProcessorCount, device));
  description.l2_bytes = attribute(cudaDevAttrL2CacheSize, device);
  return description;
}

void CudaApi::use(int device) const { check(set_device_(device), "cudaSetDevice"); }

void CudaApi::require_default_mode(int device) const {
  const std::string gpu = "cuda:" + std::to_string(device);
  if (attribute(cudaDevAttrComputeMode, device) != cudaComputeModeDefault) {
    throw DeviceError(gpu +
                      " is set to let in one process or none (its compute mode), and grading takes "
                      "two; run `nvidia-smi -c DEFAULT` as root, or " +
                      kUseSimulated);
  }
}

void CudaApi::require_shared_pools(int device) const {
  const std::string gpu = "cuda:" + std::to_string(device);
  const std::size_t handles = attribute(cudaDevAttrMemoryPoolsSupported, device) == 0
                                  ? 0
                                  : attribute(cudaDevAttrMemoryPoolSupportedHandleTypes, device);
  if ((handles & cudaMemHandleTypePosixFileDescriptor) == 0) {
    throw DeviceError(gpu +
                      " shares no memory pools by file descriptors, which is how a guest gets its "
                      "tensors; use NVIDIA's driver for Linux (Windows' WSL and some virtual GPUs "
                      "have no such pools), or " +
                      kUseSimulated);
  }
}

cudaMemPool_t CudaApi::make_pool(int device) const {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  properties.location = {.type = cudaMemLocationTypeDevice, .id = device};
  cudaMemPool_t pool = nullptr;
  check(mem_pool_create_(&pool, &properties), "cudaMemPoolCreate");
  return pool;
}

void CudaApi::release_pool(cudaMemPool_t pool) const noexcept {
  device_synchronize_();  // else the next pool could be made before this one's memory is free
  mem_pool_destroy_(pool);
}

Descriptor CudaApi::export_pool(cudaMemPool_t pool) const {
  int number = -1;
  check(mem_pool_export_(&number, pool, cudaMemHandleTypePosixFileDescriptor, 0),
        "cudaMemPoolExportToShareableHandle");
  fcntl(number, F_SETFD, FD_CLOEXEC);  // for one guest, and no other program of ours
  return Descriptor(number);
}

void* CudaApi::allocate(cudaMemPool_t pool, std::size_t bytes) const {
  void* address = nullptr;
  check(malloc_from_pool_async_(&address, bytes, pool, nullptr), "cudaMallocFromPoolAsync");
  return address;
}

void CudaApi::release(void* address) const noexcept { free_async_(address, nullptr); }

std::string CudaApi::export_pointer(void* address) const {
  cudaMemPoolPtrExportData exported{};
  check(mem_pool_export_pointer_(&exported, address), "cudaMemPoolExportPointer");
  return hexadecimal(exported.reserved);
}

void CudaApi::copy_to_device(void* to, const void* from, std::size_t bytes) const {
  check(memcpy_(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}

void CudaApi::copy_on_device(void* to, const void* from, std::size_t bytes) const {
  check(memcpy_(to, from, bytes, cudaMemcpyDeviceToDevice), "cudaMemcpy");
}

void CudaApi::copy_to_host(void* to, const void* from, std::size_t bytes) const {
  check(memcpy_(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

void CudaApi::fill(void* address, int byte, std::size_t bytes) const {
  check(memset_(address, byte, bytes), "cudaMemset");
}

void CudaApi::synchronize() const { check(device_synchronize_(), "cudaDeviceSynchronize"); }

}  // namespace rooflab

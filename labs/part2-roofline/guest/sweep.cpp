#include "sweep.h"

#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>

#include "grader/contract/guest_call.h"
#include "toolkit/check_cublas.h"

namespace {

namespace fs = std::filesystem;

/// A new folder that vanishes with this object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "sweep-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), name);
    }
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// One of the sweep's arrays.
class Array {
 public:
  Array() {
    // 0x3c3c3c3c is the float 0.0115: ordinary numbers, since zeros would draw less power and let a
    // real GPU clock higher.
    constexpr int kByteOfEach = 0x3c;
    CUDA_CHECK(cudaMalloc(&data_, kBytes));
    CUDA_CHECK(cudaMemset(data_, kByteOfEach, kBytes));
  }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  float* data() const { return data_; }

 private:
  static constexpr std::size_t kBytes = sizeof(float) * kSweepElements;
  float* data_ = nullptr;
};

double attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

/// Lanes for fp32 in one multiprocessor: CUDA C++ Programming Guide, Arithmetic Instructions.
double fp32_lanes(int major, int minor) {
  return (major == 7 && minor == 5) || (major == 8 && minor == 0) ? 64 : 128;
}

/// The peaks that a data sheet prints, from what the GPU says of itself.
rooflab::Gpu peaks_of(const cudaDeviceProp& properties) {
  constexpr double kHertzPerKilohertz = 1e3;
  constexpr double kTransfersPerClock = 2;
  constexpr double kBitsPerByte = 8;
  const double clock = attribute(cudaDevAttrClockRate) * kHertzPerKilohertz;
  const double memory_clock = attribute(cudaDevAttrMemoryClockRate) * kHertzPerKilohertz;
  const double lanes =
      properties.multiProcessorCount * fp32_lanes(properties.major, properties.minor);
  return {.flops_per_second = lanes * 2 * clock,
          .bytes_per_second =
              memory_clock * kTransfersPerClock * properties.memoryBusWidth / kBitsPerByte};
}

/// What a file holds, nothing when there is none.
std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

ROOFLAB_ENTRY(sweep) {
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  cublasHandle_t raw = nullptr;
  CUBLAS_CHECK(cublasCreate(&raw));
  const std::unique_ptr<cublasContext, decltype(&cublasDestroy)> handle(raw, &cublasDestroy);

  const Array x;
  const Array y;
  const Array out;
  const std::string name = properties.name;
  const bool simulated = name.starts_with("simulated ");
  const SweepDevice device{
      .name = name,
      .gpu = peaks_of(properties),
      .kind = simulated ? rooflab::plot::PointKind::modelled : rooflab::plot::PointKind::measured,
      .cublas = handle.get(),
      .x = x.data(),
      .y = y.data(),
      .out = out.data()};
  const ScratchFolder folder;
  sweep(device, folder.path());

  call.result("flops_per_second", device.gpu.flops_per_second);
  call.result("bytes_per_second", device.gpu.bytes_per_second);
  for (const char* kind : {"json", "csv", "svg"}) {
    call.result(kind, contents(folder.path() / ("roofline." + std::string(kind))));
  }
}

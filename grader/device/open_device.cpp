#include "grader/device/open_device.h"

#include <algorithm>
#include <charconv>

#include "grader/device/sim/sim_device.h"
#if ROOFLAB_HAS_CUDA_HEADERS
#include "grader/device/cuda/cuda_device.h"
#endif

namespace rooflab {
namespace {

/// What is simulated where nobody names a GPU.
std::string default_gpu(const DeviceOptions& options) {
  if (!options.gpus.empty()) return options.gpus.front();
  return gpu_spec::list(options.gpu_specs).at(0);
}

std::unique_ptr<Device> open_sim(const std::string& gpu, const DeviceOptions& options) {
  if (options.only_those) {
    const std::string objection = objection_to_gpu(gpu, options.gpus);
    if (!objection.empty()) throw DeviceError(objection);
  }
  return std::make_unique<SimDevice>(gpu, options);
}

std::unique_ptr<Device> open_cuda(int index, const DeviceOptions& options) {
#if ROOFLAB_HAS_CUDA_HEADERS
  return std::make_unique<CudaDevice>(index, options);
#else
  (void)options;
  throw DeviceError(
      "cuda:" + std::to_string(index) +
      " cannot be used: the grader was built without the headers of the CUDA toolkit; install "
      "it and build again, or use --device sim");
#endif
}

int cuda_count(const DeviceOptions& options) {
#if ROOFLAB_HAS_CUDA_HEADERS
  return CudaApi::load(options.cuda_libraries)->device_count();
#else
  (void)options;
  throw DeviceError(
      "the grader was built without the headers of the CUDA toolkit; use --device sim");
#endif
}

int index_from(const std::string& text) {
  int index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc{} || end != text.data() + text.size() || index < 0) {
    throw DeviceError("\"" + text + "\" is no number of a GPU; write --device cuda:0");
  }
  return index;
}

std::unique_ptr<Device> open_auto(const DeviceOptions& options) {
  try {
    return open_cuda(0, options);
  } catch (const DeviceError& error) {
    if (options.progress) {
      options.progress(std::string("no usable GPU (") + error.what() + "): simulating one");
    }
  }
  return open_sim(default_gpu(options), options);
}

/// Reason and remedy of a DeviceError, which are written "reason; remedy".
DeviceStatus unusable(const std::string& id, const std::string& message) {
  const std::size_t split = message.rfind("; ");
  DeviceStatus status;
  status.id = id;
  status.reason = message.substr(0, split);
  status.remedy = split == std::string::npos ? "" : message.substr(split + 2);
  return status;
}

DeviceStatus status_of(const std::string& selector, const DeviceOptions& options) {
  try {
    const auto device = open_device(selector, options);
    return {.id = device->id(), .name = device->name(), .usable = true, .reason = {}, .remedy = {}};
  } catch (const DeviceError& error) {
    return unusable(selector, error.what());
  }
}

}  // namespace

std::unique_ptr<Device> open_device(const std::string& selector, const DeviceOptions& options) {
  const std::size_t colon = selector.find(':');
  const std::string kind = selector.substr(0, colon);
  const std::string which = colon == std::string::npos ? "" : selector.substr(colon + 1);
  if (selector == "auto") {
    return open_auto(options);
  }
  if (kind == "sim") {
    if (colon != std::string::npos && which.empty()) {
      throw DeviceError("--device sim: names no GPU; write --device sim or --device sim:" +
                        default_gpu(options));
    }
    return open_sim(which.empty() ? default_gpu(options) : which, options);
  }
  if (kind == "cuda") {
    return open_cuda(colon == std::string::npos ? 0 : index_from(which), options);
  }
  throw DeviceError("there is no device \"" + selector + "\"; use auto, cuda, cuda:0, sim or sim:" +
                    default_gpu(options) + " (grader doctor lists what there is)");
}

std::string objection_to_gpu(const std::string& id, const std::vector<std::string>& gpus) {
  if (gpus.empty() || std::find(gpus.begin(), gpus.end(), id) != gpus.end()) return "";
  std::string names;
  for (const std::string& gpu : gpus) names += (names.empty() ? "" : ", ") + gpu;
  return "this course is not graded on " + id + ": labs/course.toml lists " + names +
         "; use --device sim:" + gpus.front() + ", or add " + id + " to `gpus` there";
}

std::vector<DeviceStatus> list_devices(const DeviceOptions& options) {
  std::vector<DeviceStatus> all;
  try {
    const int count = cuda_count(options);
    for (int index = 0; index < count; ++index) {
      all.push_back(status_of("cuda:" + std::to_string(index), options));
    }
    if (count == 0) {
      all.push_back(
          unusable("cuda", "this machine has no GPU that CUDA can use; use --device sim"));
    }
  } catch (const DeviceError& error) {
    all.push_back(unusable("cuda", error.what()));
  }
  try {
    for (const std::string& gpu : gpu_spec::list(options.gpu_specs)) {
      all.push_back(status_of("sim:" + gpu, options));
    }
  } catch (const gpu_spec::SpecError& error) {
    all.push_back(unusable("sim", error.what()));
  }
  return all;
}

}  // namespace rooflab

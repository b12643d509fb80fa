#include "grader/device/open_device.h"

#include <algorithm>
#include <charconv>
#include <utility>

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

constexpr const char* kNoGpu =
    "this machine has no GPU that CUDA can use; in a container, start it with its GPUs, or use "
    "--device sim";

/// The first real GPU that works. @param passed_over why each before it does not, or why none does
std::unique_ptr<Device> first_cuda(const DeviceOptions& options, std::string& passed_over) {
  const auto pass_over = [&](const std::string& why) {
    passed_over += (passed_over.empty() ? "" : "; ") + why;
  };
  int count = 0;
  try {
    count = cuda_count(options);
    if (count == 0) pass_over(kNoGpu);
  } catch (const DeviceError& error) {
    pass_over(error.what());
  }
  for (int index = 0; index < count; ++index) {
    try {
      return open_cuda(index, options);
    } catch (const DeviceError& error) {
      pass_over((count > 1 ? "cuda:" + std::to_string(index) + ": " : "") + error.what());
    }
  }
  return nullptr;
}

std::unique_ptr<Device> open_auto(const DeviceOptions& options) {
  std::string passed_over;
  std::unique_ptr<Device> device = first_cuda(options, passed_over);
  if (options.progress && !passed_over.empty()) {
    options.progress(device ? "using " + device->id() + " (" + passed_over + ")"
                            : "no usable GPU (" + passed_over + "): simulating one");
  }
  return device ? std::move(device) : open_sim(default_gpu(options), options);
}

DeviceStatus unusable(const std::string& id, const std::string& message) {
  const OpeningRefusal refusal = refusal_in(message);
  return {.id = id, .name = {}, .reason = refusal.reason, .remedy = refusal.remedy};
}

DeviceStatus status_of(const std::string& selector, DeviceOptions options) {
  std::vector<OpeningStep> steps;
  options.opening_step = [&steps](const OpeningStep& step) { steps.push_back(step); };
  DeviceStatus status;
  try {
    const auto device = open_device(selector, options);
    status = {
        .id = device->id(), .name = device->name(), .usable = true, .reason = {}, .remedy = {}};
  } catch (const DeviceError& error) {
    status = unusable(selector, error.what());
  }
  status.steps = std::move(steps);
  return status;
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

bool shows_gpu(const SystemFolders& system) {
  std::error_code error;
  return std::filesystem::exists(system.dev / "nvidiactl", error) ||
         std::filesystem::exists(system.dev / "dxg", error) ||  // Windows' WSL
         std::filesystem::exists(system.proc / "driver/nvidia", error);
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
    if (count == 0) all.push_back(unusable("cuda", kNoGpu));
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

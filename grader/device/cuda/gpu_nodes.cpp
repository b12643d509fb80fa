#include "grader/device/cuda/gpu_nodes.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "grader/device/device.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

constexpr int kNvmlSuccess = 0;  // NVML_SUCCESS

bool is_slice(const NodeQuestion& question) { return question.uuid.starts_with("MIG-"); }

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::optional<unsigned> number_in(const std::string& text) {
  std::istringstream words(text);
  unsigned number = 0;
  return words >> number ? std::optional(number) : std::nullopt;
}

/// "Device Minor: 	 3" of what the kernel module says of the GPU.
std::optional<unsigned> minor_by_proc(const std::string& pci_address, const fs::path& proc) {
  constexpr std::string_view kKey = "Device Minor:";
  std::ifstream information(proc / "driver/nvidia/gpus" / lower(pci_address) / "information");
  for (std::string line; std::getline(information, line);) {
    if (line.starts_with(kKey)) return number_in(line.substr(kKey.size()));
  }
  return std::nullopt;
}

/// The numbers of the nodes /dev/nvidia0, /dev/nvidia1, …
std::vector<unsigned> minors_in(const fs::path& dev) {
  constexpr std::string_view kPrefix = "nvidia";
  std::vector<unsigned> minors;
  std::error_code error;
  for (fs::directory_iterator entry(dev, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    const std::string rest = name.substr(std::min(name.size(), kPrefix.size()));
    const bool all_digits = !rest.empty() && std::ranges::all_of(rest, [](unsigned char c) {
      return std::isdigit(c) != 0;
    });
    if (name.starts_with(kPrefix) && all_digits) minors.push_back(*number_in(rest));
  }
  return minors;
}

std::optional<unsigned> minor_of(const NodeQuestion& question, const NvmlNumbers& nvml,
                                 const SystemFolders& system) {
  if (const auto minor = minor_by_proc(question.pci_address, system.proc)) return minor;
  if (nvml.minor) return nvml.minor;
  const std::vector<unsigned> all = minors_in(system.dev);
  if (all.size() > 1) {
    throw DeviceError(fmt::format(
        "cannot tell which of the {} nodes /dev/nvidia<number> is that of {} at {}, and a guest "
        "must not get another's; let the grader see /proc/driver/nvidia or libnvidia-ml.so.1, or "
        "give this container one GPU alone",
        all.size(), question.gpu, question.pci_address));
  }
  return all.empty() ? std::nullopt : std::optional(all.front());
}

/// What /proc/driver/nvidia-caps/mig-minors says: "gpu0/gi3/ci0/access 42".
std::map<std::string, unsigned> capabilities_in(const fs::path& proc) {
  std::map<std::string, unsigned> all;
  std::ifstream file(proc / "driver/nvidia-caps/mig-minors");
  std::string name;
  for (unsigned minor = 0; file >> name >> minor;) all[name] = minor;
  return all;
}

/// Who uses a slice needs the capability of its GPU instance and of its compute instance.
std::vector<fs::path> capability_nodes(const NodeQuestion& question, const NvmlNumbers& nvml,
                                       unsigned minor, const SystemFolders& system) {
  if (!nvml.gpu_instance || !nvml.compute_instance) {
    throw DeviceError(question.gpu + " is a slice of a divided GPU (MIG), and NVML does not say " +
                      "which; install libnvidia-ml.so.1 of the driver, or use --device sim");
  }
  const auto capabilities = capabilities_in(system.proc);
  const std::string instance = fmt::format("gpu{}/gi{}", minor, *nvml.gpu_instance);
  std::vector<fs::path> nodes;
  for (const std::string& name :
       {instance + "/access", fmt::format("{}/ci{}/access", instance, *nvml.compute_instance)}) {
    const auto found = capabilities.find(name);
    std::error_code error;
    const fs::path node =
        found == capabilities.end()
            ? fs::path()
            : system.dev / "nvidia-caps" / fmt::format("nvidia-cap{}", found->second);
    if (node.empty() || !fs::exists(node, error)) {
      throw DeviceError(fmt::format(
          "{} is a slice of a divided GPU (MIG), and there is no node in /dev/nvidia-caps for its "
          "capability {}; run `nvidia-modprobe -f {}` as root, or start the container with that "
          "slice (docker run --gpus '\"device={}\"')",
          question.gpu, name,
          fmt::format("/proc/driver/nvidia/capabilities/gpu{}/mig{}", minor,
                      name.substr(name.find('/'))),
          question.uuid));
    }
    nodes.push_back(node);
  }
  return nodes;
}

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};

}  // namespace

NvmlNumbers numbers_by_nvml(const std::string& library, const NodeQuestion& question) {
  NvmlNumbers numbers;
  const std::unique_ptr<void, CloseLibrary> nvml(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!nvml) return numbers;
  const auto find = [&](auto*& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(nvml.get(), name));
    return function != nullptr;
  };
  int (*init)() = nullptr;
  int (*shut_down)() = nullptr;
  if (!find(init, "nvmlInit_v2") || !find(shut_down, "nvmlShutdown") || init() != kNvmlSuccess) {
    return numbers;
  }
  int (*by_name)(const char*, void**) = nullptr;
  int (*number)(void*, unsigned*) = nullptr;
  void* gpu = nullptr;
  const auto ask = [&](const char* what) -> std::optional<unsigned> {
    unsigned value = 0;
    if (gpu == nullptr || !find(number, what) || number(gpu, &value) != kNvmlSuccess) return {};
    return value;
  };
  const auto look_at = [&](const char* how, const std::string& name) {
    gpu = nullptr;
    if (find(by_name, how) && by_name(name.c_str(), &gpu) != kNvmlSuccess) gpu = nullptr;
  };
  look_at("nvmlDeviceGetHandleByPciBusId_v2", question.pci_address);
  numbers.minor = ask("nvmlDeviceGetMinorNumber");
  if (is_slice(question)) {
    look_at("nvmlDeviceGetHandleByUUID", question.uuid);
    numbers.gpu_instance = ask("nvmlDeviceGetGpuInstanceId");
    numbers.compute_instance = ask("nvmlDeviceGetComputeInstanceId");
  }
  shut_down();
  return numbers;
}

GpuNodes nodes_of(const NodeQuestion& question, const NvmlNumbers& nvml,
                  const SystemFolders& system) {
  GpuNodes nodes;
  const auto add = [&](const std::string& name) {
    std::error_code error;
    if (fs::exists(system.dev / name, error)) {
      nodes.paths.push_back(system.dev / name);
    } else if (nodes.missing.empty()) {
      nodes.missing = "/dev/" + name;
    }
  };
  add("nvidiactl");
  add("nvidia-uvm");
  const std::optional<unsigned> minor = minor_of(question, nvml, system);
  add(minor ? "nvidia" + std::to_string(*minor) : "nvidia0");
  std::error_code error;
  if (const fs::path tools = system.dev / "nvidia-uvm-tools";
      question.for_profilers && fs::exists(tools, error)) {
    nodes.paths.push_back(tools);
  }
  if (is_slice(question) && minor) {
    std::ranges::copy(capability_nodes(question, nvml, *minor, system),
                      std::back_inserter(nodes.paths));
  }
  return nodes;
}

}  // namespace rooflab

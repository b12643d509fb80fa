#include "grader/device/toolkit_libraries.h"

#include <algorithm>

namespace rooflab {
namespace {

namespace fs = std::filesystem;

void search(const fs::path& folder, GuestSetup& setup) {
  if (std::ranges::find(setup.library_path, folder) == setup.library_path.end()) {
    setup.library_path.push_back(folder);
  }
}

void add_nvrtc(const fs::path& lib64, GuestSetup& setup) {
  if (lib64.empty() || !fs::exists(lib64 / "libnvrtc.so.13")) {
    throw DeviceError("this task needs NVRTC, and there is no libnvrtc.so.13 in " + lib64.string() +
                      "; install the CUDA 13 toolkit, or run scripts/setup");
  }
  // The folder itself: a link on the way there may be one that the guest's view cannot mount over.
  const fs::path libraries = fs::canonical(lib64);
  const fs::path root = libraries.parent_path();
  search(libraries, setup);
  setup.read_only.push_back(root / "include");
  setup.environment["CUDA_HOME"] = root.string();
}

void add_cupti(const fs::path& lib64, GuestSetup& setup) {
  const fs::path apart = lib64.parent_path() / "extras" / "CUPTI" / "lib64";
  if (!lib64.empty() && fs::exists(apart / "libcupti.so.13")) search(apart, setup);
}

}  // namespace

void add_toolkit_libraries(const std::vector<std::string>& libraries, const fs::path& lib64,
                           GuestSetup& setup) {
  for (const std::string& library : libraries) {
    if (library == "nvrtc") add_nvrtc(lib64, setup);
    if (library == "cupti") add_cupti(lib64, setup);
  }
}

}  // namespace rooflab

#include "grader/device/toolkit_libraries.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/contract/cuda_libraries.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

void add_nvrtc(const fs::path& lib64, GuestSetup& setup) {
  const std::string file = cuda_library("nvrtc");
  if (lib64.empty() || !fs::exists(lib64 / file)) {
    throw DeviceError(
        fmt::format("this task needs NVRTC, and there is no {} in {}; install the "
                    "CUDA {} toolkit, or run scripts/setup",
                    file, lib64.string(), cuda_major()));
  }
  fs::path root = fs::canonical(lib64).parent_path();
  if (!fs::exists(root / "include")) root = root.parent_path();  // Debian's lib/<architecture>
  add_library_folder(lib64, setup);
  setup.read_only.push_back(root / "include");
  setup.environment["CUDA_HOME"] = root.string();
}

void add_cupti(const fs::path& lib64, GuestSetup& setup) {
  const fs::path apart = lib64.parent_path() / "extras" / "CUPTI" / "lib64";
  if (!lib64.empty() && fs::exists(apart / cuda_library("cupti"))) add_library_folder(apart, setup);
}

/// Of the first toolkit with that major version that a build can have.
int oldest_minor() { return cuda_major() >= 13 ? 0 : 4; }

/// What to install for a library of TaskSpec::libraries.
std::string remedy_for(const std::string& library) {
  const int major = cuda_major();
  if (library == "cublas") {
    return fmt::format(
        "install cuBLAS of CUDA {0} (the package libcublas-{0}-{1}, or run scripts/setup again "
        "where the toolkit is its own)",
        major, oldest_minor());
  }
  if (library == "nvrtc") {
    return fmt::format("install NVRTC of CUDA {0} (the package cuda-nvrtc-{0}-{1})", major,
                       oldest_minor());
  }
  return fmt::format("install CUPTI of CUDA {0} (the package cuda-cupti-{0}-{1})", major,
                     oldest_minor());
}

}  // namespace

std::vector<std::string> library_files(const std::vector<std::string>& libraries) {
  std::vector<std::string> files;
  for (const std::string& library : libraries) files.push_back(cuda_library(library));
  return files;
}

void load_in_guest(GuestProcess& guest, const std::vector<std::string>& libraries) {
  for (const std::string& library : libraries) {
    Call call;
    call.libraries = library_files({library});
    const std::optional<Reply> reply = guest.call(call);
    if (reply && reply->cuda_error.empty()) continue;
    throw DeviceError(
        "the guest process cannot load what tasks of this course need: " +
        (reply ? reply->cuda_error : call.libraries.front() + " ends the process that loads it") +
        "; " + remedy_for(library) + ", or use --device sim");
  }
}

void add_library_folder(const fs::path& folder, GuestSetup& setup) {
  std::error_code error;
  const fs::path itself = fs::weakly_canonical(folder, error);
  if (error || std::ranges::find(setup.library_path, itself) != setup.library_path.end()) return;
  setup.library_path.push_back(itself);
}

void add_toolkit_libraries(const std::vector<std::string>& libraries, const fs::path& lib64,
                           GuestSetup& setup) {
  for (const std::string& library : libraries) {
    if (library == "nvrtc") add_nvrtc(lib64, setup);
    if (library == "cupti") add_cupti(lib64, setup);
  }
}

}  // namespace rooflab

#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

namespace rooflab {

/// The installation lacks something that the grader needs: what, and what to do.
class InstallationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where everything lies. `root` is the checkout, `build` the build tree that the program runs
/// from.
struct Installation {
  std::filesystem::path root;
  std::filesystem::path build;
  std::filesystem::path cache;  ///< ROOFLAB_CACHE, XDG_CACHE_HOME/rooflab or ~/.cache/rooflab

  std::filesystem::path labs() const { return root / "labs"; }
  std::filesystem::path solutions() const { return root / "solutions"; }
  std::filesystem::path starter() const { return root / "starter"; }
  std::filesystem::path handouts() const { return root / "handouts"; }
  std::filesystem::path gpus() const { return root / "specs" / "gpus"; }

  /// A part's oracles: build/lib/labs/<part directory>.so, exporting `rooflab_oracles`.
  std::filesystem::path oracle_library(const std::string& part_directory) const {
    return build / "lib" / "labs" / (part_directory + ".so");
  }
  /// A compiled adapter: build/lib/labs/<part directory>/<entry>.o, from
  /// labs/<part>/guest/<entry>.cpp.
  std::filesystem::path adapter(const std::string& part_directory, const std::string& entry) const {
    return build / "lib" / "labs" / part_directory / (entry + ".o");
  }
  /// What a student's tests are run against: build/lib/labs/<part directory>/tested/<task>.so, from
  /// labs/<part>/tested/<task>.cu, and the hidden ones from tested/hidden/.
  std::filesystem::path tested_library(const std::string& part_directory, const std::string& task,
                                       bool hidden) const {
    const auto folder = build / "lib" / "labs" / part_directory / "tested";
    return (hidden ? folder / "hidden" : folder) / (task + ".so");
  }
  /// What a calibration runs on the GPU: build/lib/grader/calibrate.so.
  std::filesystem::path calibration_library() const {
    return build / "lib" / "grader" / "calibrate.so";
  }
  /// What labs/toolkit has in the way of code: build/lib/labs/toolkit.a.
  std::filesystem::path toolkit_archive() const { return build / "lib" / "labs" / "toolkit.a"; }
};

/// Finds the installation from the running executable (build/bin/grader): its build tree, and above
/// that the checkout, or of a shared kit (shared_kit.h) the student's own folder; ROOFLAB_ROOT
/// names another checkout.
/// @throws InstallationError when no labs/ is found there.
Installation find_installation();

}  // namespace rooflab

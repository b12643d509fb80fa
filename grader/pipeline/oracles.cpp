#include "grader/pipeline/oracles.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace rooflab {

OracleLibrary::OracleLibrary(const Installation& installation, const std::string& part_directory)
    : file_(installation.oracle_library(part_directory).string()) {
  // References are computed for several tasks at once, so that threads of OpenBLAS would only be
  // in the way; how many there are could also change the last bit of a sum. Read when loaded.
  ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
  // Never closed: oracles and what they made may live until the program ends.
  void* library = ::dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    throw InstallationError(
        fmt::format("cannot load the oracles of {}: {}; build the project again", part_directory,
                    reason != nullptr ? reason : file_));
  }
  const auto registry = reinterpret_cast<const void* (*)()>(::dlsym(library, "rooflab_oracles"));
  const auto layout =
      reinterpret_cast<std::uint64_t (*)()>(::dlsym(library, "rooflab_oracle_layout"));
  if (registry == nullptr || layout == nullptr) {
    throw InstallationError(fmt::format(
        "{} is no oracle library; add ROOFLAB_ORACLE_LIBRARY() and build the project again",
        file_));
  }
  if (layout() != kOracleLayout) {
    throw InstallationError(
        fmt::format("{} and the grader are of different builds; build the project again", file_));
  }
  registry_ = static_cast<const std::map<std::string, OracleFactory>*>(registry());
}

std::unique_ptr<Oracle> OracleLibrary::make(const std::string& name) const {
  const auto found = registry_->find(name);
  if (found == registry_->end()) {
    throw InstallationError(fmt::format(
        "{} holds no oracle \"{}\"; correct `oracle` in part.toml or register it", file_, name));
  }
  return found->second();
}

}  // namespace rooflab

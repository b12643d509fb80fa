#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/pipeline/installation.h"
#include "simgpu/machine_code/assembler.h"

namespace rooflab {

/// NVIDIA's compiler and the toolkit it belongs to.
struct Toolchain {
  std::filesystem::path nvcc;
  std::filesystem::path root;  ///< holds bin/, include/ and the libraries
  std::string found_by;        ///< "PATH", "CUDA_HOME" …
  std::string version;  ///< all that `nvcc --version` prints: part of what a build is cached by
  /// The first line of `g++ --version`, of the g++ that nvcc finds in the sandbox's PATH: so is it.
  std::string host_compiler;
  std::filesystem::path ptxas;  ///< beside nvcc; empty when it is not there
  std::string ptxas_version;    ///< all that it prints of its version
  std::string release() const;  ///< "13.0"
  /// The folder of the toolkit's libraries: lib64 of its root, or where Debian has them.
  std::filesystem::path libraries() const;

  /// A call of nvcc with these words. Where a plain char has no sign, as on ARM, it gets one: a
  /// submission computes the same on every machine.
  std::vector<std::string> command(std::vector<std::string> words) const;
};

/// Looks for nvcc of the build's CUDA (cuda_major()) in ROOFLAB_NVCC, PATH, CUDA_HOME,
/// /usr/local/cuda and the checkout's .cuda/.
/// @throws InstallationError when there is none, or none that runs, or no host compiler.
Toolchain find_toolchain(const Installation& installation);

/// How machine code of students' PTX is made: the toolkit's ptxas in the sandbox, and what it made
/// kept where no guest comes to. Without a ptxas its command is empty.
simgpu::machine_code::AssemblerOptions sandboxed_assembler(const Installation& installation,
                                                           const Toolchain& toolchain,
                                                           bool sandbox);

/// Runs a tool of binutils on a submission that was built, in the sandbox: what it reads may attack
/// it. @returns what it printed; empty when it failed or took long
std::string run_on_library(const std::vector<std::string>& command, bool sandbox);

}  // namespace rooflab

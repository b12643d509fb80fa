#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>

namespace simgpu::native {

/// The host's C++ compiler, which nvcc needs too.
class Compiler {
 public:
  /// The g++ on PATH; nullopt when there is none that answers.
  static std::optional<Compiler> find(const std::atomic<bool>& stop);

  /// Everything besides the text that decides what comes out: version, flags and processor.
  const std::string& identity() const { return identity_; }
  /// Makes a shared object of a source file. Gives up after a minute, or when `stop` is set.
  bool compile(const std::filesystem::path& source, const std::filesystem::path& object,
               const std::atomic<bool>& stop) const;

 private:
  explicit Compiler(std::string identity) : identity_(std::move(identity)) {}
  std::string identity_;
};

}  // namespace simgpu::native

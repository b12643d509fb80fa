#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/ptx/parser.h"

namespace simgpu::ptx {

/// A module's text whose kernels mean the same when each is read without the others. A call runs
/// few of a program's kernels, so to read, lower and assemble just those is most of what a short
/// run would else take.
class KernelTexts {
 public:
  /// Nothing where the kernels must be read together: there are functions that they may share, or
  /// something outside of them names one of them, or the text is not what it seems.
  /// @param text untrusted; must outlive the call alone
  static std::optional<KernelTexts> of(std::string_view text);

  std::size_t size() const { return kernels_.size(); }
  const std::string& name(std::size_t kernel) const { return kernels_.at(kernel).name; }
  /// The module with no kernel but this one.
  std::string with_only(std::size_t kernel) const;
  std::string without_kernels() const { return with_only(kernels_.size()); }

 private:
  struct Kernel {
    std::string name;  ///< mangled
    TextRange range;   ///< of its definition, linkage included
  };
  std::string text_;
  std::vector<Kernel> kernels_;
};

}  // namespace simgpu::ptx

#pragma once

#include <string>
#include <vector>

#include "simgpu/lower/builder.h"
#include "simgpu/lower/call_graph.h"

namespace simgpu {

/// What a call passes, as names of .param variables. nvcc passes these and nothing else; PTX that
/// is written by hand passes registers and literals too, which get a variable each: arguments are
/// stored to theirs before the call, results are loaded from theirs behind it.
class PassedNames {
 public:
  /// Stores the arguments. @param callee nullptr where it is not known: then registers are refused
  PassedNames(KernelBuilder& builder, const CallOperands& operands, const ptx::Function* callee);

  const std::vector<std::string>& arguments() const { return arguments_; }
  const std::vector<std::string>& results() const { return results_; }
  void load_results(KernelBuilder& builder) const;

 private:
  struct Result {
    std::string name;
    ptx::Scalar to;
    ptx::Type type = ptx::Type::none;
  };
  std::vector<std::string> arguments_, results_;
  std::vector<Result> in_registers_;
};

}  // namespace simgpu

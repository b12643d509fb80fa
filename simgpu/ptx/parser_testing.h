#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simgpu/ptx/ast.h"
#include "simgpu/ptx/parser.h"

/// Short ways to write PTX in tests.
namespace simgpu::ptx::testing {

inline constexpr std::string_view kHeader = ".version 9.0\n.target sm_80\n.address_size 64\n";

/// A module of these lines after the three that every module has.
inline Module parse_module(std::string_view lines) {
  return parse(std::string(kHeader).append(lines));
}

/// The kernel with this body and some registers of each type.
inline Function parse_kernel(std::string_view body) {
  const std::string registers =
      ".reg .pred %p<9>;\n.reg .b16 %rs<9>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<9>;\n"
      ".reg .f32 %f<99>;\n.reg .f64 %fd<9>;\n";
  const Module module = parse_module(".visible .entry k(.param .u64 k_param_0)\n{\n" + registers +
                                     std::string(body) + "\n}\n");
  return module.functions.front();
}

/// The only instruction of such a kernel.
inline Instruction parse_instruction(std::string_view text) {
  return parse_kernel(text).body.at(0);
}

/// The registers' names behind an operand's elements; what is no register shows as "?".
inline std::vector<std::string> register_names(const Function& function, const Operand& operand) {
  std::vector<std::string> names;
  for (const Scalar& element : operand.elements) {
    const auto* reference = std::get_if<RegisterRef>(&element);
    names.push_back(reference == nullptr ? "?" : function.registers.at(reference->index).name);
  }
  return names;
}

/// what() of the error that parsing throws; empty when it does not throw.
inline std::string error_of(std::string_view text) {
  try {
    parse(text);
  } catch (const ParseError& error) {
    return error.what();
  }
  return "";
}

}  // namespace simgpu::ptx::testing

#include "simgpu/exec/opcode_tests/kernel_text.h"

namespace simgpu::opcode_tests {
namespace {

constexpr const char kOperandLetters[] = {'a', 'b', 'c', 'e'};

std::string bits_type(const std::string& type) {
  return ".b" + std::to_string(register_bits(type));
}

std::string declared(const std::string& type, const std::string& name) {
  return "  .reg " + (type == "pred" ? std::string(".pred") : bits_type(type)) + " " + name + ";\n";
}

std::string loaded(const std::string& type, const std::string& name, const std::string& address) {
  if (type == "pred") {
    return "  ld.global.u32 %word, " + address + ";\n  setp.ne.u32 " + name + ", %word, 0;\n";
  }
  return "  ld.global" + bits_type(type) + " " + name + ", " + address + ";\n";
}

std::string stored(const std::string& type, const std::string& name, const std::string& address) {
  if (type == "pred") {
    return "  selp.u32 %word, 1, 0, " + name + ";\n  st.global.u32 " + address + ", %word;\n";
  }
  return "  st.global" + bits_type(type) + " " + address + ", " + name + ";\n";
}

std::string untouched(const std::string& type, const std::string& name) {
  if (type == "pred") return "  setp.ne.u32 " + name + ", %lane, %lane;\n";
  const std::string digits(register_bits(type) / 4, '5');
  std::string pattern = digits;
  for (std::size_t i = 1; i < pattern.size(); i += 2) pattern[i] = 'a';
  return "  mov" + bits_type(type) + " " + name + ", 0x" + pattern + ";\n";
}

/// Replaces $x by registers; $d by `destination`. Each instruction gets `guard` in front.
std::string instantiated(const std::string& text, const std::string& destination,
                         const std::string& guard) {
  std::string out;
  bool at_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (at_start && c != ' ') {
      out += "  " + guard;
      at_start = false;
    }
    if (c == '$') {
      ++i;
      out += text[i] == 'd' ? destination : std::string("%operand_") + text[i];
    } else if (c == ';') {
      out += ";\n";
      at_start = true;
    } else if (!at_start) {
      out += c;
    }
  }
  return out;
}

}  // namespace

bool guard_of(std::uint32_t lane) { return (lane * 0x9e3779b1u >> 31) != 0; }

std::string kernel_text(const std::string& name, const Form& form) {
  std::string text = ".visible .entry " + name +
                     "(.param .u64 in, .param .u64 out, .param .u32 lanes)\n{\n"
                     "  .reg .pred %outside;\n  .reg .pred %guard;\n  .reg .b32 %lane;\n"
                     "  .reg .b32 %word;\n  .reg .b32 %block;\n  .reg .b32 %size;\n"
                     "  .reg .b32 %lanes;\n  .reg .b64 %in;\n  .reg .b64 %out;\n"
                     "  .reg .b64 %offset;\n  .reg .b64 %stride;\n";
  for (std::size_t i = 0; i < form.sources.size(); ++i) {
    text += declared(form.sources[i], std::string("%operand_") + kOperandLetters[i]);
  }
  text += declared(form.result, "%plain") + declared(form.result, "%guarded");
  text +=
      "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  ld.param.u32 %lanes, [lanes];\n"
      "  mov.u32 %block, %ctaid.x;\n  mov.u32 %size, %ntid.x;\n  mov.u32 %word, %tid.x;\n"
      "  mad.lo.s32 %lane, %block, %size, %word;\n  setp.ge.u32 %outside, %lane, %lanes;\n"
      "  @%outside bra $done;\n"
      "  mul.wide.u32 %offset, %lane, 8;\n  add.s64 %in, %in, %offset;\n"
      "  mul.wide.u32 %stride, %lanes, 8;\n"
      "  mul.wide.u32 %offset, %lane, 16;\n  add.s64 %out, %out, %offset;\n"
      "  mul.lo.u32 %word, %lane, 2654435761;\n  setp.lt.s32 %guard, %word, 0;\n";
  for (std::size_t i = 0; i < form.sources.size(); ++i) {
    text += loaded(form.sources[i], std::string("%operand_") + kOperandLetters[i], "[%in]");
    text += "  add.s64 %in, %in, %stride;\n";
  }
  text += instantiated(form.text, "%plain", "") + stored(form.result, "%plain", "[%out]");
  text += untouched(form.result, "%guarded") + instantiated(form.text, "%guarded", "@%guard ") +
          stored(form.result, "%guarded", "[%out+8]");
  return text + "$done:\n  ret;\n}\n";
}

}  // namespace simgpu::opcode_tests

#pragma once

#include <string>
#include <string_view>

#include "simgpu/fuzzing/grammar/choices.h"

namespace simgpu::fuzzing {

/// Texts that are PTX, or nearly: what nests, repeats and counts in its grammar. Instructions and
/// their operands come from the programs in ptx/testdata (program_fuzz.cpp).
class PtxText {
 public:
  explicit PtxText(Choices& choices) : choices_(choices) {}

  std::string text() {
    std::string text(choices_.of({".version 8.0\n.target sm_80\n.address_size 64\n",
                                  ".version 9.9\n.target sm_90a, debug\n.address_size 32\n",
                                  ".version x\n", ""}));
    while (!choices_.is_empty() && text.size() < kLongest) text += declaration() + "\n";
    return text;
  }

 private:
  static constexpr std::size_t kLongest = 1U << 16;
  static constexpr std::size_t kDeepest = 120;

  std::string declaration() {
    switch (choices_.below(8)) {
      case 0:
        return ".file " + number() + " \"" + awkward_text(choices_, 64) + "\"";
      case 1:
        return "." + std::string(choices_.of({"pragma \"x\";", "section .debug_str { .b8 1, 2 }",
                                              "alias a, b;", "loc 1 2 3", "extern .func f;",
                                              "weak .global .u32 w;"}));
      case 2:
        return "/*" + awkward_text(choices_, 256) + (choices_.rarely(4) ? "" : "*/");
      case 3:
      case 4:
        return variable() + ";";
      default:
        return function();
    }
  }

  std::string variable() {
    std::string text(choices_.of(
        {".global", ".shared", ".const", ".local", ".param", ".reg", ".visible .global"}));
    if (choices_.rarely(4)) text += " .align " + number();
    text += choices_.of(
        {" .b32 ", " .v4 .f32 ", " .pred ", " .u8 ", " .b128 ", " .texref ", " .v2 .b64 "});
    text += name();
    if (choices_.rarely(4)) text += "<" + number() + ">";
    for (std::size_t dimensions = choices_.count(1U << 12); dimensions > 0; --dimensions) {
      text += "[" + (choices_.rarely(4) ? expression(0) : number()) + "]";
    }
    if (choices_.coin()) text += " = " + initialiser(0);
    return text;
  }

  std::string initialiser(std::size_t depth) {
    if (choices_.rarely(16)) return repeated("{", choices_.count(1U << 14) + 1);
    if (depth >= kDeepest || choices_.coin()) return expression(depth);
    std::string text = "{";
    for (std::size_t left = choices_.below(4); left > 0; --left)
      text += initialiser(depth + 1) + (left > 1 ? "," : "");
    return text + (choices_.rarely(16) ? "" : "}");
  }

  std::string expression(std::size_t depth) {
    if (depth >= kDeepest) return number();
    switch (choices_.below(8)) {
      case 0:
        return "(" + expression(depth + 1) + ")";
      case 1:
        return expression(depth + 1) +
               std::string(choices_.of({"+", "/", "%", "<<", "&&", "==", "*", ">>"})) +
               expression(depth + 1);
      case 2:
        return std::string(choices_.of({"-", "!", "~", "(.s64)"})) + expression(depth + 1);
      case 3:
        return expression(depth + 1) + "?" + expression(depth + 1) + ":" + expression(depth + 1);
      case 4:
        return repeated(choices_.of({"(", "-", "~", "1+", "1?", "a["}),
                        choices_.count(1U << 14) + 1);
      case 5:
        return std::string(choices_.of({"generic(", "mask(", ""})) + name() +
               std::string(choices_.of({"", ")", "+4"}));
      default:
        return number();
    }
  }

  std::string number() {
    return std::string(
        choices_.of({"0", "1", "4", "32", "65536", "2147483648", "18446744073709551615",
                     "18446744073709551616", "0x7fffffffffffffff", "0f3f800000",
                     "0d3ff0000000000000", "0f1", "0b102", "077", "1.5e3", "-1", "1U", "0x"}));
  }

  std::string name() {
    std::string name(choices_.of({"f", "g", "%r1", "$L", "_", "_Z1fv", "x.y", "", "1a"}));
    if (choices_.rarely(16)) name += repeated("n", choices_.count(1U << 14));
    return name;
  }

  std::string function() {
    std::string text(
        choices_.of({".visible .entry ", ".func ", ".func (.param .b32 r) ", ".entry "}));
    text += name() + "(";
    for (std::size_t left = choices_.count(1U << 8); left > 0; --left) {
      text += ".param .b64 " + name() + number() + (left > 1 ? "," : "");
    }
    text += ") " + std::string(choices_.of(
                       {"", ".maxntid 1,1,1 ", ".reqntid 99999999999 ", ".minnctapersm 1 "}));
    return text + block(0);
  }

  std::string block(std::size_t depth) {
    if (choices_.rarely(16))
      return repeated(choices_.of({"{", "{{}", "L: "}), choices_.count(1U << 14) + 1);
    std::string text = "{\n";
    for (std::size_t left = choices_.below(8); left > 0; --left) {
      text += depth < kDeepest && choices_.rarely(4) ? block(depth + 1) : statement();
      text += "\n";
    }
    return text + (choices_.rarely(16) ? "" : "}");
  }

  std::string statement() {
    switch (choices_.below(8)) {
      case 0:
        return variable() + ";";
      case 1:
        return name() + ":";
      case 2:
        return name() + ": .branchtargets " + repeated("a, ", choices_.count(1U << 12)) + "b;";
      case 3:
        return "call (" + operand() + "), " + name() + ", (" + operand() + ");";
      default:
        return std::string(choices_.of({"", "@%p1 ", "@!%p2 "})) +
               std::string(choices_.of({"add.s32 ", "ld.global.v4.f32 ", "bra ", "mov.b64 ", "ret",
                                        "setp.lt.f32 ", "tex.2d.v4.f32.f32 ", "bar.sync ",
                                        "nothing.known "})) +
               operand() + ", " + operand() + (choices_.coin() ? ", " + operand() : "") + ";";
    }
  }

  std::string operand() {
    switch (choices_.below(8)) {
      case 0:
        return "[" + name() + "+" + number() + "]";
      case 1:
        return "{" + name() + "," + operand() + "}";
      case 2:
        return repeated(choices_.of({"{", "[", "-", "!"}), choices_.count(1U << 14) + 1);
      case 3:
        return name() + "|" + name();
      case 4:
        return expression(kDeepest - 4);
      default:
        return choices_.coin() ? name() : number();
    }
  }

  Choices& choices_;
};

}  // namespace simgpu::fuzzing

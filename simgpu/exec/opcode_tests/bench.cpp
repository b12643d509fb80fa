#include "simgpu/exec/opcode_tests/bench.h"

namespace simgpu::opcode_tests {
namespace {

std::string place(const std::string& to, unsigned number, unsigned of) {
  return "  mad.lo.u64 %place, %i8, " + std::to_string(of) + ", %" + to + ";\n" +
         "  st.global.u64 [%place+" + std::to_string(8 * number) + "], %wide;\n";
}

}  // namespace

std::string bench_kernel(const std::string& name, const std::string& body,
                         const std::string& declarations) {
  std::string text = ".visible .entry " + name + "(";
  for (int i = 0; i < 6; ++i) {
    text += (i == 0 ? ".param .u64 arg" : ", .param .u64 arg") + std::to_string(i);
  }
  text += ")\n{\n" + declarations +
          "  .reg .b64 %p<6>;\n  .reg .b64 %d<24>;\n  .reg .b32 %r<24>;\n  .reg .b16 %h<8>;\n"
          "  .reg .pred %q<8>;\n  .reg .b32 %lane, %thread, %word;\n"
          "  .reg .b64 %i8, %wide, %place;\n";
  for (int i = 0; i < 6; ++i) {
    const std::string number = std::to_string(i);
    text += "  ld.param.u64 %p" + number + ", [arg" + number + "];\n";
  }
  return text +
         "  mov.u32 %lane, %tid.x;\n  mov.u32 %thread, %ctaid.x;\n  mov.u32 %word, %ntid.x;\n"
         "  mad.lo.u32 %thread, %thread, %word, %lane;\n  and.b32 %lane, %lane, 31;\n"
         "  mul.wide.u32 %i8, %thread, 8;\n  shr.u64 %wide, %p5, %lane;\n"
         "  and.b64 %wide, %wide, 1;\n  setp.ne.u64 %q0, %wide, 0;\n" +
         body + "  ret;\n}\n";
}

std::string bench_module(const std::string& kernels, const std::string& variables) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + variables + kernels;
}

std::string take(const std::string& name, const std::string& from) {
  const std::string type = name[0] == 'd' ? "u64" : name[0] == 'r' ? "u32" : "u16";
  return "  add.u64 %place, %i8, %" + from + ";\n  ld.global." + type + " %" + name +
         ", [%place];\n";
}

std::string give(const std::string& name, const std::string& to, unsigned number, unsigned of) {
  const std::string widened = name[0] == 'd'   ? "  mov.u64 %wide, %" + name
                              : name[0] == 'r' ? "  cvt.u64.u32 %wide, %" + name
                                               : "  cvt.u64.u16 %wide, %" + name;
  return widened + ";\n" + place(to, number, of);
}

std::string give_predicate(const std::string& name, const std::string& to, unsigned number,
                           unsigned of) {
  return "  selp.u64 %wide, 1, 0, %" + name + ";\n" + place(to, number, of);
}

std::string refusal_of(const testing::Device& device, const std::string& kernel) {
  const KernelInfo* info = find_kernel(device.program(), kernel);
  if (info == nullptr) return "the kernel is missing";
  return info->unsupported.empty() ? "" : info->unsupported.front();
}

std::string trouble(const LaunchResult& result) {
  if (!result.findings.empty()) return result.findings.front().message;
  return result.status == LaunchStatus::ok ? "" : "the launch failed";
}

std::vector<std::uint64_t> random_values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<std::uint64_t> values(count);
  for (std::uint64_t& value : values) value = engine();
  return values;
}

}  // namespace simgpu::opcode_tests

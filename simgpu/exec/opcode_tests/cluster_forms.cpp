#include "simgpu/exec/opcode_tests/form.h"

/// Addresses in a cluster of one block.
namespace simgpu::opcode_tests::of_cluster_forms {
namespace {

Forms cluster_forms() {
  Forms forms;
  for (const std::string space : {"", ".shared::cluster"}) {
    for (const std::string type : {"u32", "u64"}) {
      const auto itself = [=](const Lane& x) { return type == "u64" ? x[0] : x[0] & 0xffffffff; };
      const auto nowhere = [=](const Lane&) { return type == "u64" ? ~0ull : 0xffffffff; };
      forms.push_back({"mapa" + space + "." + type + " $d, $a, 0;", type, {type}, itself});
      forms.push_back(
          {"mapa" + space + "." + type + " $d, $a, $b;", type, {type, "u32"}, [=](const Lane& x) {
             return (x[1] & 0xffffffff) == 0 ? itself(x) : nowhere(x);
           }});
      forms.push_back(
          {"getctarank" + space + "." + type + " $d, $a;", "u32", {type}, [](const Lane&) {
             return std::uint64_t{0};
           }});
    }
  }
  return forms;
}
const FormFile kForms{"cluster", cluster_forms};

}  // namespace
}  // namespace simgpu::opcode_tests::of_cluster_forms

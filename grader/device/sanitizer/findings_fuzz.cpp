// libFuzzer's entry to the reader of compute-sanitizer's output, which the program under it shares:
// any bytes give findings within the limits, each with a code and a sentence. They are read as its
// output, and make one.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "grader/device/sanitizer/findings.h"
#include "simgpu/fuzzing/grammar/choices.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_site(const simgpu::AccessSite& site) {
  require(site.file.size() <= rooflab::sanitizer::kLongestName);
  require(!site.file.empty() || site.line == 0);
}

void read(std::string_view text) {
  const auto findings = rooflab::sanitizer::findings_in(text);
  require(findings.size() <= rooflab::sanitizer::kMostFindings);
  for (const simgpu::Finding& finding : findings) {
    require(finding.code.kind() && !finding.message.empty());
    require(finding.kernel.size() <= rooflab::sanitizer::kLongestName);
    require(finding.occurrences > 0);
    check_site(finding.where);
    if (finding.other) check_site(*finding.other);
  }
}

/// Lines as the tool prints them, in any order and with any numbers.
std::string made_output(std::string_view bytes) {
  simgpu::fuzzing::Choices choices(bytes);
  const auto number = [&] {
    return std::string(choices.of(
        {"0", "1", "4", "31", "4294967295", "18446744073709551616", "-1", "0x7f00", "x", ""}));
  };
  const auto place = [&] { return "(" + number() + "," + number() + "," + number() + ")"; };
  std::string text;
  while (!choices.is_empty() && text.size() < (1U << 16)) {
    text += choices.of({"========= ", "=========     ", "", "=========         "});
    switch (choices.below(8)) {
      case 0:
        text += "Invalid __global__ " + std::string(choices.of({"read", "write", "atomic"})) +
                " of size " + number() + " bytes";
        break;
      case 1:
        text += "at " + awkward_text(choices, 256) + "+" + number() + " in " +
                awkward_text(choices, 256) + ":" + number();
        break;
      case 2:
        text += "by thread " + place() + " in block " + place();
        break;
      case 3:
        text += "Error: Race reported between Write access at f+" + number() +
                " in a.cu:" + number() + " and Read access at g+" + number() +
                " in b.cu:" + number() + " [" + number() + " hazards]";
        break;
      case 4:
        text += "Address " + number() + " is out of bounds";
        break;
      case 5:
        text += "Uninitialized __shared__ memory read of size " + number() + " bytes";
        break;
      case 6:
        text += "Barrier error detected. " +
                std::string(choices.of({"Divergent thread(s) in block.", "Invalid arguments"}));
        break;
      default:
        text += awkward_text(choices, 1024);
    }
    text += choices.of({"\n", "\n", "\n", "\r\n", ""});
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  read(made_output(bytes));
  return 0;
}

// libFuzzer's entry to the reader of student.toml: any text gives three short lines or a
// StudentFileError. Besides bytes it makes texts of TOML's own structure: nesting, dotted keys,
// duplicates and long numbers, which no mutation of bytes soon finds.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "grader/batch/unpack/student_file.h"
#include "simgpu/fuzzing/grammar/toml_text.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void read(const std::string& text) {
  try {
    const rooflab::StudentFileText file = rooflab::parse_student_file(text);
    for (const std::string& value : {file.id, file.name, file.email}) {
      require(value.size() <= 400 && value.find('\n') == std::string::npos);
    }
  } catch (const rooflab::StudentFileError& error) {
    require(!std::string_view(error.what()).empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read(std::string(bytes));
  static constexpr std::array<std::string_view, 3> kKeys = {"id", "name", "email"};
  simgpu::fuzzing::Choices choices(bytes);
  read(simgpu::fuzzing::TomlText(choices, kKeys).text());
  return 0;
}

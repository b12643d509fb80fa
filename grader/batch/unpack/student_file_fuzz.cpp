// libFuzzer's entry to the reader of student.toml: any text gives three short lines or a
// StudentFileError. Besides bytes it makes texts of TOML's own structure: nesting, dotted keys,
// duplicates and long numbers, which no mutation of bytes soon finds.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "grader/batch/unpack/student_file.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

/// Each byte chooses a piece, the next how often it stands there.
std::string structured(std::string_view choices) {
  static constexpr std::string_view kPieces[] = {
      "[",     "]",      "{ a = ",  "}",        "a.",
      "\"\".", "id = ",  "name = ", "email = ", "\"x\"",
      "'''\n", "\"\"\"", "9",       "-",        "0x",
      "1e9",   "\n",     "[[t]]\n", "[t]\n",    "\\u0000",
      "# c\n", ", ",     "=",       "inf",      "1979-05-27T07:32:00Z"};
  std::string text;
  for (std::size_t i = 0; i + 1 < choices.size() && text.size() < (18U << 10); i += 2) {
    const auto piece = static_cast<unsigned char>(choices[i]) % std::size(kPieces);
    const auto times = static_cast<unsigned char>(choices[i + 1]);
    text += repeated(kPieces[piece], times < 240 ? times % 4 + 1 : std::size_t{1} << (times - 232));
  }
  return text;
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
  read(structured(bytes));
  return 0;
}

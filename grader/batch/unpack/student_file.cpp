#include "grader/batch/unpack/student_file.h"

#include <algorithm>

#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

constexpr std::size_t kLongestText = 16U << 10;
constexpr std::size_t kLongestValue = 400;

/// A university's number may be written with quotes or without.
std::string text_of(TableReader& reader, const std::string& key) {
  if (!reader.has(key)) return "";
  const Value value = reader.value(key);
  std::string text;
  if (const auto* written = std::get_if<std::string>(&value)) text = *written;
  if (const auto* number = std::get_if<std::int64_t>(&value)) text = std::to_string(*number);
  if (text.size() > kLongestValue) {
    throw reader.error(key, "`" + key + "` is longer than 400 bytes", "shorten it");
  }
  if (std::ranges::any_of(text, [](unsigned char c) { return c == '\n' || c == '\0'; })) {
    throw reader.error(key, "`" + key + "` has more than one line", "write it in one");
  }
  return text;
}

}  // namespace

StudentFileText parse_student_file(const std::string& text) {
  if (text.size() > kLongestText) throw StudentFileError("it is larger than 16 KiB");
  try {
    const toml::table table = parse_toml_text(text, "student.toml");
    TableReader reader(table, "student.toml", "student.toml");
    StudentFileText file;
    file.id = text_of(reader, "id");
    file.name = text_of(reader, "name");
    file.email = text_of(reader, "email");
    reader.finish();
    return file;
  } catch (const SpecError& error) {
    throw StudentFileError(error.what());
  }
}

}  // namespace rooflab

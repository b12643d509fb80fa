#include "grader/batch/intake/student_file.h"

#include <fmt/format.h>

#include "grader/batch/intake/found_files.h"
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
  if (text.size() <= kLongestValue) return text;
  throw reader.error(key, fmt::format("`{}` is longer than {} bytes", key, kLongestValue),
                     "shorten it");
}

}  // namespace

StudentFile read_student_file(std::string_view text) {
  StudentFile file;
  if (text.size() > kLongestText) {
    file.problem = "it is larger than 16 KiB";
    return file;
  }
  try {
    const toml::table table = parse_toml_text(std::string(text), "student.toml");
    TableReader reader(table, "student.toml", "student.toml");
    StudentHints hints;
    hints.sis_id = text_of(reader, "id");
    hints.name = text_of(reader, "name");
    hints.email = text_of(reader, "email");
    reader.finish();
    file.hints = hints;
  } catch (const SpecError& error) {
    file.problem = shown(error.what());
  }
  return file;
}

}  // namespace rooflab

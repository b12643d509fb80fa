// read_as_json KIND FILE ...: what our reader of a kind (toml, json, csv, archive) makes of each
// file, a line of JSON for each: null for one that it refuses, else {"value": ...}. Bytes that are
// no UTF-8 stand in it as the characters of the same numbers. readers_against_python_test compares
// it with Python's.
#include <clocale>
#include <cmath>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "grader/batch/intake/csv.h"
#include "grader/batch/unpack/read_archive.h"
#include "grader/spec/files.h"
#include "grader/spec/json_bounds.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

using Json = nlohmann::json;

/// Each byte as the character of its number, so that any bytes can be shown.
std::string as_latin(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xC0 | byte >> 6);
      text += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return text;
}

Json real(double value) {
  if (std::isfinite(value)) return {{"real", value}};
  return {{"real", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"}};
}

Json of_toml(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [key, value] : *table)
      object[as_latin(std::string(key.str()))] = of_toml(value);
    return object;
  }
  if (const auto* array = node.as_array()) {
    Json list = Json::array();
    for (const toml::node& element : *array) list.push_back(of_toml(element));
    return list;
  }
  if (const auto* text = node.as_string()) return as_latin(text->get());
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return real(number->get());
  if (const auto* truth = node.as_boolean()) return truth->get();
  return {{"time", true}};
}

Json of_csv(const std::string& text) {
  const CsvFile file = read_csv(text, "table.csv");
  Json rows = Json::array();
  for (const CsvRow& row : file.rows) {
    Json fields = Json::array();
    for (const std::string& field : row.fields) fields.push_back(as_latin(field));
    rows.push_back(std::move(fields));
  }
  return {{"delimiter", std::string(1, file.delimiter)}, {"rows", std::move(rows)}};
}

Json of_archive(const std::string& bytes) {
  Json files = Json::object();
  for (const ArchiveFile& file : read_archive(bytes))
    files[as_latin(file.path)] = as_latin(file.contents);
  return files;
}

Json of_json(const std::string& text) {
  if (json_nests_too_deep(text)) throw SpecError("too deep");
  return Json::parse(text);
}

Json read(const std::string& kind, const std::string& bytes) {
  try {
    if (kind == "toml") return {{"value", of_toml(parse_toml_text(bytes, "x.toml"))}};
    if (kind == "csv") return {{"value", of_csv(bytes)}};
    if (kind == "json") return {{"value", of_json(bytes)}};
    return {{"value", of_archive(bytes)}};
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace
}  // namespace rooflab

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // as rooflab-unpack: else libarchive takes UTF-8 for broken
  for (int i = 2; i < argc; ++i) {
    std::printf("%s\n", rooflab::read(argv[1], rooflab::read_file(argv[i])).dump().c_str());
  }
  return argc > 2 ? 0 : 2;
}

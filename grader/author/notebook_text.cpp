#include "grader/author/notebook_text.h"

#include <nlohmann/json.hpp>

namespace rooflab {
namespace {

using Json = nlohmann::ordered_json;

void add_text(const std::string& text, std::string& all) {
  all += text;
  if (!all.ends_with('\n')) all += '\n';
}

void add_texts(const Json& value, std::string& all) {
  if (value.is_string()) add_text(value.get_ref<const std::string&>(), all);
  if (!value.is_structured()) return;
  for (const auto& [name, item] : value.items()) {
    if (value.is_object()) add_text(name, all);
    add_texts(item, all);
  }
}

}  // namespace

std::optional<std::string> notebook_text(const std::string& contents) {
  const Json document = Json::parse(contents, nullptr, false);
  if (document.is_discarded()) return std::nullopt;
  std::string all;
  add_texts(document, all);
  return all;
}

}  // namespace rooflab

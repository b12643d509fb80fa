#include "simgpu/sarif/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

namespace simgpu::sarif {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
constexpr const char* kBase = "SUBMISSION";

/// A text in which nothing is a placeholder or a link.
std::string plain(const std::string& text) {
  std::string literal;
  char before = 0;
  for (const char letter : text) {
    if (letter == '{' || letter == '}') literal += letter;
    if (before == ']' && letter == '(') literal += ' ';
    literal += letter;
    before = letter;
  }
  return literal;
}

Json region_of(const Place& place) {
  Json region{{"startLine", place.line}};
  if (place.column == 0) return region;
  region["startColumn"] = place.column;
  if (place.length > 0) region["endColumn"] = place.column + place.length;
  return region;
}

Json location_of(const Place& place, bool has_base) {
  Json artifact{{"uri", uri_of(place.file)}};
  if (has_base && !place.file.starts_with('/')) artifact["uriBaseId"] = kBase;
  Json physical{{"artifactLocation", std::move(artifact)}};
  if (place.line > 0) physical["region"] = region_of(place);
  Json location{{"physicalLocation", std::move(physical)}};
  if (!place.text.empty()) location["message"] = {{"text", plain(place.text)}};
  return location;
}

Json result_of(const Result& result, std::size_t rule, bool has_base) {
  std::string text = result.message;
  for (const std::string& line : result.details) text += "\n" + line;
  Json json{{"ruleId", result.code.text()},
            {"ruleIndex", rule},
            {"level", name_of(result.level)},
            {"message", {{"text", plain(text)}}}};
  if (!result.places.empty()) {
    json["locations"] = Json::array({location_of(result.places.front(), has_base)});
    Json related = Json::array();
    for (const Place& place : std::span(result.places).subspan(1)) {
      related.push_back(location_of(place, has_base));
      related.back()["id"] = related.size();
    }
    if (!related.empty()) json["relatedLocations"] = std::move(related);
  }
  if (!result.properties.empty()) json["properties"] = result.properties;
  return json;
}

Json rule_of(Code code, const Page& page) {
  Json rule{{"id", code.text()}, {"shortDescription", {{"text", code.meaning()}}}};
  std::string help = code.help();
  if (*code.note() != 0) help += fmt::format("{}note: {}", help.empty() ? "" : "\n", code.note());
  // A text is there wherever Markdown is, for whoever cannot show that.
  if (help.empty() && !page.markdown.empty()) help = page.markdown;
  if (!help.empty()) rule["help"] = {{"text", help}};
  if (!page.markdown.empty()) rule["help"]["markdown"] = page.markdown;
  if (!page.uri.empty()) rule["helpUri"] = page.uri;
  return rule;
}

}  // namespace

const char* name_of(Level level) {
  switch (level) {
    case Level::note:
      return "note";
    case Level::warning:
      return "warning";
    case Level::error:
      break;
  }
  return "error";
}

std::string uri_of(const std::string& path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char letter : path) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool is_literal =
        byte < 0x80 && (std::isalnum(byte) != 0 ||
                        std::string_view("/-._~").find(letter) != std::string_view::npos);
    uri += is_literal ? std::string(1, letter) : fmt::format("%{:02X}", byte);
  }
  return uri;
}

std::string document_of(const Run& run, const std::function<Page(Code)>& page_of) {
  std::set<Code> codes;
  for (const Result& result : run.results) codes.insert(result.code);
  Json rules = Json::array();
  for (const Code code : codes) rules.push_back(rule_of(code, page_of(code)));
  Json results = Json::array();
  for (const Result& result : run.results) {
    const auto rule =
        static_cast<std::size_t>(std::distance(codes.begin(), codes.find(result.code)));
    results.push_back(result_of(result, rule, !run.base.empty()));
  }
  Json one{
      {"tool",
       {{"driver", {{"name", run.tool}, {"version", run.version}, {"rules", std::move(rules)}}}}},
      {"columnKind", "unicodeCodePoints"}};
  if (!run.base.empty()) {
    const std::string folder = run.base.ends_with('/') ? run.base : run.base + "/";
    one["originalUriBaseIds"] = {{kBase, {{"uri", uri_of(folder)}}}};
  }
  one["results"] = std::move(results);
  const Json document{
      {"$schema", kSchema}, {"version", "2.1.0"}, {"runs", Json::array({std::move(one)})}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace simgpu::sarif

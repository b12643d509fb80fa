#include "grader/spec/toml_reader.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "grader/spec/similar_name.h"
#include "grader/spec/toml_bounds.h"

namespace rooflab {
namespace {

constexpr std::uintmax_t kLargestToml = 1U << 20;

std::string type_name(const toml::node& node) {
  if (node.is_string()) return "a string";
  if (node.is_integer()) return "an integer";
  if (node.is_floating_point()) return "a float";
  if (node.is_boolean()) return "a boolean";
  if (node.is_array()) return "an array";
  if (node.is_table()) return "a table";
  return "a date or time";
}

std::string read_text(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    throw SpecError(
        fmt::format("{}: there is no such file; restore it or name another one", file.string()));
  }
  if (!std::filesystem::is_regular_file(file, error)) {
    throw SpecError(
        fmt::format("{}: this is no regular file; put a TOML file there", file.string()));
  }
  if (std::filesystem::file_size(file, error) > kLargestToml) {
    throw SpecError(fmt::format("{}: the file is larger than 1 MiB; shorten it", file.string()));
  }
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) {
    throw SpecError(
        fmt::format("{}: the file cannot be read; check its permissions", file.string()));
  }
  return text;
}

std::string join(const std::set<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ", ") + name;
  return joined;
}

std::optional<Value> scalar_of(const toml::node& node) {
  if (const auto* integer = node.as_integer()) return Value{integer->get()};
  if (const auto* real = node.as_floating_point()) return Value{real->get()};
  if (const auto* text = node.as_string()) return Value{text->get()};
  return std::nullopt;
}

}  // namespace

toml::table parse_toml(const std::filesystem::path& file) {
  return parse_toml_text(read_text(file), file.string());
}

toml::table parse_toml_text(const std::string& text, const std::string& name) {
  if (const auto line = nests_too_deep(text)) {
    throw SpecError(fmt::format(
        "{}:{}: this nests too deep; use keys of few parts and few brackets within each other",
        name, *line));
  }
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw SpecError(fmt::format("{}:{}: {}; correct the TOML there", name,
                                error.source().begin.line, error.description()));
  }
}

std::string toml_string(const std::string& text) {
  using enum toml::format_flags;
  std::ostringstream out;
  const toml::value<std::string> value(text);
  out << toml::toml_formatter(value, toml::toml_formatter::default_flags &
                                         ~(allow_literal_strings | allow_multi_line_strings));
  return out.str();
}

SpecError spec_error(const std::filesystem::path& file, const toml::node& at,
                     const std::string& message, const std::string& remedy) {
  return SpecError(
      fmt::format("{}:{}: {}; {}", file.string(), at.source().begin.line, message, remedy));
}

SpecError TableReader::error(const std::string& key, const std::string& message,
                             const std::string& remedy) const {
  const toml::node* node = table_.get(key);
  return spec_error(file_, node != nullptr ? *node : static_cast<const toml::node&>(table_),
                    message, remedy);
}

SpecError TableReader::wrong_type(const std::string& key, const toml::node& node,
                                  const std::string& wanted) const {
  return spec_error(file_, node, fmt::format("{}: `{}` is {}", where_, key, type_name(node)),
                    "write " + wanted);
}

const toml::node* TableReader::take(const std::string& key) {
  known_.insert(key);
  return table_.get(key);
}

const toml::node& TableReader::require(const std::string& key) {
  const toml::node* node = take(key);
  if (node == nullptr) {
    throw error(key, fmt::format("{}: `{}` is missing", where_, key), "add it");
  }
  return *node;
}

std::string TableReader::text(const std::string& key) {
  const toml::node& node = require(key);
  if (!node.is_string()) throw wrong_type(key, node, "a string");
  return node.as_string()->get();
}

std::string TableReader::text_or(const std::string& key, std::string fallback) {
  return take(key) != nullptr ? text(key) : std::move(fallback);
}

double TableReader::number(const std::string& key) {
  const toml::node& node = require(key);
  if (const auto* integer = node.as_integer()) return static_cast<double>(integer->get());
  if (const auto* real = node.as_floating_point()) return real->get();
  throw wrong_type(key, node, "a number");
}

double TableReader::number_or(const std::string& key, double fallback) {
  return take(key) != nullptr ? number(key) : fallback;
}

std::int64_t TableReader::integer(const std::string& key) {
  const toml::node& node = require(key);
  if (!node.is_integer()) throw wrong_type(key, node, "an integer");
  return node.as_integer()->get();
}

std::optional<std::int64_t> TableReader::maybe_integer(const std::string& key) {
  if (take(key) == nullptr) return std::nullopt;
  return integer(key);
}

bool TableReader::boolean_or(const std::string& key, bool fallback) {
  const toml::node* node = take(key);
  if (node == nullptr) return fallback;
  if (!node->is_boolean()) throw wrong_type(key, *node, "true or false");
  return node->as_boolean()->get();
}

std::int64_t TableReader::time(const std::string& key) { return moment(key).seconds; }

Moment TableReader::moment(const std::string& key) {
  constexpr const char* kExample = "2026-11-20T23:59:00+01:00";
  const toml::node& node = require(key);
  const auto* value = node.as_date_time();
  if (value == nullptr) {
    throw wrong_type(key, node,
                     fmt::format("a date, a time and a zone, without quotes: {}", kExample));
  }
  const toml::date_time& moment = value->get();
  if (!moment.offset) {
    throw spec_error(file_, node, fmt::format("{}: `{}` names no time zone", where_, key),
                     fmt::format("write the offset from UTC after it, or Z for UTC: {}", kExample));
  }
  const std::chrono::year_month_day date{std::chrono::year(moment.date.year),
                                         std::chrono::month(moment.date.month),
                                         std::chrono::day(moment.date.day)};
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t minutes = moment.time.hour * 60 + moment.time.minute - moment.offset->minutes;
  return {days * 86400 + minutes * 60 + moment.time.second, moment.offset->minutes};
}

std::optional<std::int64_t> TableReader::maybe_time(const std::string& key) {
  if (take(key) == nullptr) return std::nullopt;
  return time(key);
}

std::optional<Moment> TableReader::maybe_moment(const std::string& key) {
  if (take(key) == nullptr) return std::nullopt;
  return moment(key);
}

std::optional<std::vector<std::int64_t>> TableReader::maybe_integers(const std::string& key) {
  const toml::node* node = take(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_array()) throw wrong_type(key, *node, "an array of integers");
  std::vector<std::int64_t> all;
  for (const toml::node& element : *node->as_array()) {
    if (!element.is_integer()) throw wrong_type(key, element, "an array of integers");
    all.push_back(element.as_integer()->get());
  }
  return all;
}

std::vector<std::string> TableReader::texts(const std::string& key) {
  const toml::node* node = take(key);
  if (node == nullptr) return {};
  if (!node->is_array()) throw wrong_type(key, *node, "an array of strings");
  std::vector<std::string> all;
  for (const toml::node& element : *node->as_array()) {
    if (!element.is_string()) throw wrong_type(key, element, "an array of strings");
    all.push_back(element.as_string()->get());
  }
  return all;
}

Values TableReader::values(const std::string& key) {
  const toml::node* node = take(key);
  if (node == nullptr) return {};
  if (!node->is_table()) throw wrong_type(key, *node, "a table such as { m = 64 }");
  Values all;
  for (const auto& [name, element] : *node->as_table()) {
    const auto scalar = scalar_of(element);
    const std::string path = key + "." + std::string(name.str());
    if (!scalar) throw wrong_type(path, element, "an integer, a float or a string");
    all[std::string(name.str())] = *scalar;
  }
  return all;
}

Value TableReader::value(const std::string& key) {
  const toml::node& node = require(key);
  const auto scalar = scalar_of(node);
  if (!scalar) throw wrong_type(key, node, "an integer, a float or a string");
  return *scalar;
}

void TableReader::each(const std::string& key,
                       const std::function<void(const toml::table&)>& read) {
  const toml::node* node = take(key);
  if (node == nullptr) return;
  if (!node->is_array()) throw wrong_type(key, *node, fmt::format("[[{}]] tables", key));
  for (const toml::node& element : *node->as_array()) {
    if (!element.is_table()) throw wrong_type(key, element, fmt::format("[[{}]] tables", key));
    read(*element.as_table());
  }
}

bool TableReader::maybe(const std::string& key,
                        const std::function<void(const toml::table&)>& read) {
  const toml::node* node = take(key);
  if (node == nullptr) return false;
  if (!node->is_table()) throw wrong_type(key, *node, "a table");
  read(*node->as_table());
  return true;
}

void TableReader::finish() const {
  for (const auto& [key, node] : table_) {
    const std::string name(key.str());
    if (known_.contains(name)) continue;
    const auto closest = closest_names(name, {known_.begin(), known_.end()});
    const std::string meant =
        closest.empty() ? "" : fmt::format("did you mean `{}`? ", closest.front());
    throw spec_error(file_, node, fmt::format("{}: unknown key `{}`", where_, name),
                     meant + "known keys are " + join(known_));
  }
}

}  // namespace rooflab

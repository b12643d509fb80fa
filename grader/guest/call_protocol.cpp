#include "grader/guest/call_protocol.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace rooflab {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxTextBytes = 8192;  // of a detail or a name
constexpr std::size_t kMaxResults = 1000;
constexpr std::size_t kMaxKeys = kMaxResults + 10;  // of a reply with its results

constexpr std::array kStatusNames = {
    std::pair{Reply::Status::returned, "returned"},
    std::pair{Reply::Status::not_implemented, "not-implemented"},
    std::pair{Reply::Status::exception, "exception"},
    std::pair{Reply::Status::out_of_memory, "out-of-memory"},
    std::pair{Reply::Status::not_loaded, "not-loaded"},
    std::pair{Reply::Status::too_long, "too-long"},
};

json to_json(const Values& values) {
  json object = json::object();
  for (const auto& [name, value] : values) {
    std::visit([&object, &name = name](const auto& held) { object[name] = held; }, value);
  }
  return object;
}

// JSON has no NaN and no infinity: they are written as null, which reads as NaN and so never
// passes.
std::optional<Value> value_from(const json& node) {
  if (node.is_number_unsigned() && node.get<std::uint64_t>() > INT64_MAX) {
    return static_cast<double>(node.get<std::uint64_t>());
  }
  if (node.is_number_integer()) {
    return node.get<std::int64_t>();
  }
  if (node.is_number_float()) {
    return node.get<double>();
  }
  if (node.is_null()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (node.is_string()) {
    return node.get<std::string>();
  }
  return std::nullopt;
}

std::string line_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

json to_json(const std::map<std::string, TensorPlace>& tensors) {
  json object = json::object();
  for (const auto& [name, place] : tensors) {
    object[name] = {{"address", place.address},
                    {"exported", place.exported},
                    {"own_bytes", place.own_bytes},
                    {"is_copied", place.is_copied}};
  }
  return object;
}

Values parameters_from(const json& object) {
  Values parameters;
  for (const auto& [name, node] : object.items()) {
    if (auto value = value_from(node)) parameters.emplace(name, std::move(*value));
  }
  return parameters;
}

std::map<std::string, TensorPlace> tensors_from(const json& object) {
  std::map<std::string, TensorPlace> tensors;
  for (const auto& [name, node] : object.items()) {
    tensors[name] = {node.at("address").get<std::uint64_t>(),
                     node.at("exported").get<std::string>(),
                     node.at("own_bytes").get<std::uint64_t>(), node.at("is_copied").get<bool>()};
  }
  return tensors;
}

std::optional<std::string> text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) {
    return std::nullopt;
  }
  return found->get<std::string>().substr(0, kMaxTextBytes);
}

/// Where an exception was thrown, and its advice; a reply of anything else has none of it.
std::optional<Thrown> thrown_from(const json& object) {
  if (!object.contains("line")) return Thrown{};
  const auto file = text_at(object, "file");
  const auto line = object.find("line");
  const auto advice = text_at(object, "advice");
  if (!file || !advice || line == object.end() || !line->is_number_unsigned()) return std::nullopt;
  const auto number = line->get<std::uint64_t>();
  if (number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return Thrown{*file, static_cast<std::uint32_t>(number), *advice};
}

std::optional<Reply::Status> status_named(const std::string& name) {
  for (const auto& [status, text] : kStatusNames) {
    if (name == text) {
      return status;
    }
  }
  return std::nullopt;
}

/// Parses what a guest sent, if it is a table of at most so many values and one table: a few bytes
/// of deeply nested lists would take many times their size in memory.
json parse_flat(const std::string& text) {
  std::size_t keys = 0;
  bool fits = true;
  const auto look = [&](int depth, json::parse_event_t event, json& /*value*/) {
    keys += event == json::parse_event_t::key ? 1 : 0;
    fits = fits && keys <= kMaxKeys && depth <= 2 && event != json::parse_event_t::array_start;
    return fits;
  };
  json object = json::parse(text, look, false);
  return fits ? object : json();
}

Reply too_long() {
  Reply reply;
  reply.status = Reply::Status::too_long;
  return reply;
}

bool is_too_long(const Values& results) {
  return std::ranges::any_of(results, [](const auto& result) {
    const auto* text = std::get_if<std::string>(&result.second);
    return text != nullptr && text->size() > kMaxResultBytes;
  });
}

std::optional<Values> results_from(const json& node) {
  if (!node.is_object() || node.size() > kMaxResults) {
    return std::nullopt;
  }
  Values values;
  for (const auto& [name, child] : node.items()) {
    std::optional<Value> value = value_from(child);
    if (!value || name.size() > kMaxTextBytes) {
      return std::nullopt;
    }
    values.emplace(name, std::move(*value));
  }
  return values;
}

}  // namespace

std::string encode(const Call& call) {
  json object = {{"library", call.library},
                 {"entry", call.entry},
                 {"libraries", call.libraries},
                 {"proves_kernel", call.proves_kernel},
                 {"parameters", to_json(call.parameters)},
                 {"tensors", to_json(call.tensors)},
                 {"measured", call.measured},
                 {"gives_stream", call.gives_stream},
                 {"holds_to_stream", call.holds_to_stream},
                 {"stream", call.stream}};
  if (call.beside) {
    object["beside"] = {{"parameters", to_json(call.beside->parameters)},
                        {"tensors", to_json(call.beside->tensors)},
                        {"stream", call.beside->stream}};
  }
  if (call.variant) {
    // Its bits, for JSON has no NaN and no infinity.
    object["variant"] = {{"first", call.variant->first},
                         {"second", call.variant->second},
                         {"value", std::bit_cast<std::uint64_t>(call.variant->value)}};
  }
  return line_of(object);
}

std::string encode(const Reply& reply) {
  if (is_too_long(reply.results)) {
    return encode(too_long());
  }
  const char* status = kStatusNames.front().second;
  for (const auto& [each, name] : kStatusNames) {
    status = each == reply.status ? name : status;
  }
  std::string line = line_of({{"status", status},
                              {"detail", reply.detail.substr(0, kMaxTextBytes)},
                              {"file", reply.thrown.file.substr(0, kMaxTextBytes)},
                              {"line", reply.thrown.line},
                              {"advice", reply.thrown.advice.substr(0, kMaxTextBytes)},
                              {"cuda_error", reply.cuda_error},
                              {"results", to_json(reply.results)},
                              {"elapsed_us", reply.elapsed_us}});
  return line.size() < kMaxReplyBytes ? line : encode(too_long());
}

Call decode_call(const std::string& text) {
  const json object = json::parse(text);
  Call call;
  call.library = object.at("library").get<std::string>();
  call.entry = object.at("entry").get<std::string>();
  call.libraries = object.at("libraries").get<std::vector<std::string>>();
  call.proves_kernel = object.at("proves_kernel").get<bool>();
  call.measured = object.at("measured").get<bool>();
  call.gives_stream = object.at("gives_stream").get<bool>();
  call.holds_to_stream = object.at("holds_to_stream").get<bool>();
  call.stream = object.at("stream").get<std::uint64_t>();
  call.parameters = parameters_from(object.at("parameters"));
  call.tensors = tensors_from(object.at("tensors"));
  if (const auto beside = object.find("beside"); beside != object.end()) {
    call.beside = {parameters_from(beside->at("parameters")), tensors_from(beside->at("tensors")),
                   beside->at("stream").get<std::uint64_t>()};
  }
  if (const auto variant = object.find("variant"); variant != object.end()) {
    call.variant = {variant->at("first").get<std::int32_t>(),
                    variant->at("second").get<std::int32_t>(),
                    std::bit_cast<double>(variant->at("value").get<std::uint64_t>())};
  }
  return call;
}

std::optional<Reply> decode_reply(const std::string& text) {
  const json object = parse_flat(text);
  if (!object.is_object()) {
    return std::nullopt;
  }
  const auto status_name = text_at(object, "status");
  const auto status = status_named(status_name.value_or(""));
  const auto detail = text_at(object, "detail");
  const auto thrown = thrown_from(object);
  const auto cuda_error = text_at(object, "cuda_error");
  const auto results = object.find("results");
  const auto elapsed = object.find("elapsed_us");
  if (!status || !detail || !thrown || !cuda_error || results == object.end() ||
      elapsed == object.end() || !elapsed->is_number()) {
    return std::nullopt;
  }
  auto values = results_from(*results);
  if (!values) {
    return std::nullopt;
  }
  if (is_too_long(*values)) {
    return too_long();
  }
  return Reply{*status, *detail, *thrown, *cuda_error, std::move(*values), elapsed->get<double>()};
}

}  // namespace rooflab

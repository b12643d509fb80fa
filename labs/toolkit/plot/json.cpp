#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "labs/toolkit/plot/check_chart.h"
#include "labs/toolkit/plot/kind.h"
#include "labs/toolkit/plot/plot.h"

namespace rooflab::plot {
namespace {

using Json = nlohmann::json;  // read: looks keys up in logarithmic time, whoever wrote them
using OrderedJson = nlohmann::ordered_json;  // written: keys as the struct has them

std::string text_of(const OrderedJson& json) { return json.dump(2) + "\n"; }

OrderedJson json_of(const std::vector<Series>& all) {
  OrderedJson list = OrderedJson::array();
  for (const Series& series : all) {
    OrderedJson values = OrderedJson::array();
    for (const double value : series.values)
      values.push_back(value == kOutOfMemory ? OrderedJson() : OrderedJson(value));
    list.push_back({{"label", series.label}, {"values", std::move(values)}});
  }
  return list;
}

/// One JSON object that must hold exactly the keys asked for. Faults name the place:
/// points[3].kind.
class ObjectReader {
 public:
  ObjectReader(const Json& json, std::string place) : json_(json), place_(std::move(place)) {
    if (!json.is_object()) refuse(place_.empty() ? "the text" : place_, "must be a JSON object");
  }

  std::string text(const char* key) {
    const Json& value = get(key);
    if (!value.is_string()) refuse(at(key), "must be a text");
    return value.get<std::string>();
  }
  double number(const char* key) { return number(get(key), at(key)); }
  template <typename Read>
  void each(const char* key, std::size_t most, Read read) {
    const Json& list = get(key);
    if (!list.is_array()) refuse(at(key), "must be a list");
    if (list.size() > most)
      refuse(at(key), "has " + std::to_string(list.size()) + " entries, at most " +
                          std::to_string(most) + " are read");
    for (std::size_t i = 0; i < list.size(); ++i)
      read(list[i], at(key) + "[" + std::to_string(i) + "]");
  }
  /// Call after everything is read.
  void refuse_unknown_keys() const {
    for (const auto& [key, value] : json_.items()) {
      if (known_.count(key) == 0) refuse(at(shown(key)), "is no key of this chart");
    }
  }

  static double number(const Json& value, const std::string& place) {
    if (!value.is_number()) refuse(place, "must be a number");
    return value.get<double>();
  }
  [[noreturn]] static void refuse(const std::string& place, const std::string& fault) {
    throw std::invalid_argument("chart JSON: " + place + " " + fault);
  }

 private:
  static std::string shown(const std::string& key) {
    return key.size() <= 40 ? key : key.substr(0, 40) + "...";
  }
  std::string at(const std::string& key) const { return place_.empty() ? key : place_ + "." + key; }
  const Json& get(const char* key) {
    known_.insert(key);
    const auto found = json_.find(key);
    if (found == json_.end()) refuse(at(key), "is missing");
    return *found;
  }

  const Json& json_;
  std::string place_;
  std::set<std::string> known_;
};

Json parse(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw std::invalid_argument("chart JSON: not JSON at byte " + std::to_string(error.byte));
  } catch (const nlohmann::json::exception&) {
    // Json::parse refuses a number that no double can hold with another type of exception.
    throw std::invalid_argument("chart JSON: a number is out of range");
  }
}

void expect_kind(ObjectReader& object, const std::string& kind) {
  if (object.text("chart") != kind) ObjectReader::refuse("chart", "must be \"" + kind + "\" here");
}

PointKind kind_from(const std::string& name, const std::string& place) {
  for (const PointKind kind : kAllKinds) {
    if (name == name_of(kind)) return kind;
  }
  ObjectReader::refuse(place + ".kind", "must be predicted, modelled, measured or target");
}

Point point_from(const Json& json, const std::string& place) {
  ObjectReader object(json, place);
  Point point{object.text("label"), object.number("intensity"), object.number("flops_per_second"),
              kind_from(object.text("kind"), place)};
  object.refuse_unknown_keys();
  return point;
}

std::vector<Series> series_from(ObjectReader& chart, const char* key) {
  std::vector<Series> all;
  chart.each(key, kMostSeries, [&](const Json& json, const std::string& place) {
    ObjectReader object(json, place);
    Series series{object.text("label"), {}};
    object.each("values", kMostSizes, [&](const Json& value, const std::string& value_place) {
      series.values.push_back(value.is_null() ? kOutOfMemory
                                              : ObjectReader::number(value, value_place));
    });
    object.refuse_unknown_keys();
    all.push_back(std::move(series));
  });
  return all;
}

}  // namespace

std::string to_json(const RooflineChart& chart) {
  check_chart(chart);
  OrderedJson roofs = OrderedJson::array(), memory = OrderedJson::array(),
              points = OrderedJson::array();
  for (const Roof& roof : chart.roofs)
    roofs.push_back({{"label", roof.label}, {"flops_per_second", roof.flops_per_second}});
  for (const MemoryLevel& level : chart.memory)
    memory.push_back({{"label", level.label}, {"bytes_per_second", level.bytes_per_second}});
  for (const Point& point : chart.points) {
    points.push_back({{"label", point.label},
                      {"intensity", point.intensity},
                      {"flops_per_second", point.flops_per_second},
                      {"kind", name_of(point.kind)}});
  }
  return text_of({{"chart", "roofline"},
                  {"title", chart.title},
                  {"roofs", std::move(roofs)},
                  {"memory", std::move(memory)},
                  {"points", std::move(points)}});
}

std::string to_json(const LatencyChart& chart) {
  check_chart(chart);
  return text_of({{"chart", "latency"},
                  {"title", chart.title},
                  {"x_label", chart.x_label},
                  {"x", chart.x},
                  {"latency_ms", json_of(chart.latency_ms)}});
}

std::string to_json(const AttentionChart& chart) {
  check_chart(chart);
  return text_of({{"chart", "attention"},
                  {"title", chart.title},
                  {"lengths", chart.lengths},
                  {"latency_ms", json_of(chart.latency_ms)},
                  {"memory_bytes", json_of(chart.memory_bytes)}});
}

RooflineChart roofline_from_json(std::string_view text) {
  const Json json = parse(text);
  ObjectReader object(json, "");
  expect_kind(object, "roofline");
  RooflineChart chart{object.text("title"), {}, {}, {}};
  object.each("roofs", kMostRoofs, [&](const Json& entry, const std::string& place) {
    ObjectReader roof(entry, place);
    chart.roofs.push_back({roof.text("label"), roof.number("flops_per_second")});
    roof.refuse_unknown_keys();
  });
  object.each("memory", kMostMemoryLevels, [&](const Json& entry, const std::string& place) {
    ObjectReader level(entry, place);
    chart.memory.push_back({level.text("label"), level.number("bytes_per_second")});
    level.refuse_unknown_keys();
  });
  object.each("points", kMostPoints, [&](const Json& entry, const std::string& place) {
    chart.points.push_back(point_from(entry, place));
  });
  object.refuse_unknown_keys();
  check_chart(chart);
  return chart;
}

LatencyChart latency_from_json(std::string_view text) {
  const Json json = parse(text);
  ObjectReader object(json, "");
  expect_kind(object, "latency");
  LatencyChart chart{object.text("title"), object.text("x_label"), {}, {}};
  object.each("x", kMostSizes, [&](const Json& size, const std::string& place) {
    if (!size.is_string()) ObjectReader::refuse(place, "must be a text");
    chart.x.push_back(size.get<std::string>());
  });
  chart.latency_ms = series_from(object, "latency_ms");
  object.refuse_unknown_keys();
  check_chart(chart);
  return chart;
}

AttentionChart attention_from_json(std::string_view text) {
  const Json json = parse(text);
  ObjectReader object(json, "");
  expect_kind(object, "attention");
  AttentionChart chart{object.text("title"), {}, {}, {}};
  object.each("lengths", kMostSizes, [&](const Json& length, const std::string& place) {
    if (!length.is_number_integer()) ObjectReader::refuse(place, "must be a whole number");
    chart.lengths.push_back(length.get<std::int64_t>());
  });
  chart.latency_ms = series_from(object, "latency_ms");
  chart.memory_bytes = series_from(object, "memory_bytes");
  object.refuse_unknown_keys();
  check_chart(chart);
  return chart;
}

}  // namespace rooflab::plot

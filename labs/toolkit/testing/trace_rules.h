#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

/// Whether a text is a Chrome trace as viewers want it: Google's "Trace Event Format", and what
/// Perfetto and chrome://tracing do with slices that overlap and arrows without an end.
namespace rooflab {

class TraceRules {
 public:
  /// Every rule that the text breaks, in words; none for a good trace.
  static std::vector<std::string> faults(const std::string& text) {
    TraceRules rules;
    rules.check(nlohmann::json::parse(text, nullptr, false));
    return std::move(rules.faults_);
  }

 private:
  using Json = nlohmann::json;
  using Row = std::pair<std::int64_t, std::int64_t>;  // pid, tid
  struct Slice {
    std::int64_t start = 0, end = 0;  // nanoseconds
    std::string category;
    std::int64_t correlation = 0;
  };
  struct Arrow {
    int begins = 0, ends = 0;
    std::int64_t begin = 0, end = 0;
    Row from, to;
  };

  void fault(const std::string& what, const Json& event) {
    faults_.push_back(what + ": " + event.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  void expect(bool holds, const std::string& what, const Json& event) {
    if (!holds) fault(what, event);
  }
  static std::int64_t nanoseconds(const Json& time) {
    return std::llround(time.get<double>() * 1e3);
  }

  void check(const Json& document) {
    if (!document.is_object()) return faults_.push_back("not a JSON object");
    expect(document.value("schemaVersion", 0) == 1, "schemaVersion is not 1", Json());
    expect(document.contains("deviceProperties") && document["deviceProperties"].is_array(),
           "deviceProperties is no array", Json());
    const std::string unit = document.value("displayTimeUnit", "");
    expect(unit == "ms" || unit == "ns", "displayTimeUnit is neither ms nor ns", Json());
    if (!document.contains("traceEvents") || !document["traceEvents"].is_array()) {
      return faults_.push_back("traceEvents is no array");
    }
    for (const Json& event : document["traceEvents"]) check_event(event);
    for (const auto& [row, slices] : slices_) check_row(row, slices);
    for (const auto& [id, arrow] : arrows_) check_arrow(id, arrow);
  }

  void check_event(const Json& event) {
    if (!event.is_object() || !event.contains("ph") || !event["ph"].is_string()) {
      return fault("no phase", event);
    }
    for (const char* key : {"pid", "tid"}) {
      if (!event.contains(key) || !event[key].is_number_integer()) {
        return fault(std::string("no whole ") + key, event);
      }
    }
    if (!event.contains("name") || !event["name"].is_string()) return fault("no name", event);
    const std::string phase = event["ph"];
    if (phase == "M") return check_metadata(event);
    expect(event["tid"] != 0, "a row 0, which Perfetto takes for the idle task", event);
    if (!event.contains("cat") || !event["cat"].is_string()) return fault("no category", event);
    if (!event.contains("ts") || !event["ts"].is_number() || !(event["ts"].get<double>() >= 0)) {
      return fault("no time >= 0", event);
    }
    if (phase == "X") return check_slice(event);
    if (phase == "s" || phase == "f") return check_arrow_end(event, phase == "s");
    fault("a phase that is none of X, M, s and f", event);
  }

  static Row row_of(const Json& event) { return {event["pid"], event["tid"]}; }

  void check_metadata(const Json& event) {
    const std::string name = event["name"];
    const Json args = event.value("args", Json());
    if (name == "process_name" || name == "thread_name") {
      expect(args.is_object() && args.contains("name") && args["name"].is_string(), "no args.name",
             event);
      if (name == "process_name") named_processes_.insert(row_of(event).first);
      if (name == "thread_name") named_rows_.insert(row_of(event));
    } else if (name == "process_sort_index" || name == "thread_sort_index") {
      expect(
          args.is_object() && args.contains("sort_index") && args["sort_index"].is_number_integer(),
          "no args.sort_index", event);
    } else {
      fault("metadata of an unknown name", event);
    }
  }

  void check_slice(const Json& event) {
    if (!event.contains("dur") || !event["dur"].is_number() || !(event["dur"].get<double>() >= 0)) {
      return fault("no duration >= 0", event);
    }
    const Json args = event.value("args", Json::object());
    if (!args.is_object()) return fault("args is no object", event);
    const std::string category = event["cat"];
    if (category == "kernel") {
      for (const char* key :
           {"device", "stream", "correlation", "registers per thread", "shared memory",
            "blocks per SM", "warps per SM", "grid", "block", "est. achieved occupancy %"}) {
        expect(args.contains(key), std::string("a kernel without ") + key, event);
      }
    }
    Slice slice{.category = category};
    slice.start = nanoseconds(event["ts"]);
    slice.end = slice.start + nanoseconds(event["dur"]);
    if (args.contains("correlation")) slice.correlation = args["correlation"];
    slices_[row_of(event)].push_back(slice);
  }

  void check_arrow_end(const Json& event, bool begins) {
    expect(event["name"] == "ac2g" && event["cat"] == "ac2g", "an arrow that is no ac2g", event);
    if (!event.contains("id") || !event["id"].is_number_integer()) {
      return fault("an arrow without id", event);
    }
    Arrow& arrow = arrows_[event["id"]];
    (begins ? arrow.begins : arrow.ends) += 1;
    (begins ? arrow.begin : arrow.end) = nanoseconds(event["ts"]);
    (begins ? arrow.from : arrow.to) = row_of(event);
    if (!begins) expect(event.value("bp", "") == "e", "an arrow's end without bp e", event);
  }

  void check_row(const Row& row, const std::vector<Slice>& slices) {
    const Json where = {{"pid", row.first}, {"tid", row.second}};
    expect(named_processes_.contains(row.first), "slices of a process without name", where);
    expect(named_rows_.contains(row), "slices of a row without name", where);
    std::vector<std::int64_t> open;  // ends of the slices around
    std::int64_t last = 0;
    for (const Slice& slice : slices) {
      expect(slice.start >= last, "slices of a row are not sorted", where);
      last = slice.start;
      while (!open.empty() && open.back() <= slice.start) open.pop_back();
      expect(open.empty() || slice.end <= open.back(), "slices of a row overlap", where);
      open.push_back(slice.end);
    }
  }

  /// The innermost slice of a row that begins at the time, null for none.
  const Slice* beginning(const Row& row, std::int64_t time) const {
    const auto slices = slices_.find(row);
    if (slices == slices_.end()) return nullptr;
    const Slice* found = nullptr;
    for (const Slice& slice : slices->second) {
      if (slice.start == time) found = &slice;
    }
    return found;
  }

  void check_arrow(std::int64_t id, const Arrow& arrow) {
    const Json which = {{"id", id}};
    if (arrow.begins != 1 || arrow.ends != 1) return fault("an arrow without a pair", which);
    expect(arrow.begin <= arrow.end, "an arrow that goes back in time", which);
    const Slice* from = beginning(arrow.from, arrow.begin);
    const Slice* to = beginning(arrow.to, arrow.end);
    if (from == nullptr || to == nullptr) return fault("an arrow's end outside of a slice", which);
    expect(from->category == "cuda_runtime", "an arrow that begins at no call", which);
    static const std::set<std::string> kWork{"kernel", "gpu_memcpy", "gpu_memset"};
    expect(kWork.contains(to->category), "an arrow that ends at no work of the device", which);
    expect(from->correlation == to->correlation, "an arrow between strangers", which);
  }

  std::vector<std::string> faults_;
  std::map<Row, std::vector<Slice>> slices_;
  std::map<std::int64_t, Arrow> arrows_;
  std::set<std::int64_t> named_processes_;
  std::set<Row> named_rows_;
};

}  // namespace rooflab

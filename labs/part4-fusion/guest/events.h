#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "toolkit/profiler/profile.h"

/// The events of a case, from the text that oracle/trace.h writes.
namespace rooflab {

/// More entries than any case has: what is too much is wrong anyhow.
constexpr std::size_t kMostEntries = 4096;

/// The name of one entry of a list of results.
inline std::string at(const char* name, std::size_t i) {
  return std::string(name) + " " + std::to_string(i);
}

/// @throws std::invalid_argument
inline ProfiledEvent::Kind kind_of(const std::string& name) {
  if (name == "kernel") return ProfiledEvent::Kind::kernel;
  if (name == "copy") return ProfiledEvent::Kind::copy;
  if (name == "memset") return ProfiledEvent::Kind::memset;
  if (name == "api") return ProfiledEvent::Kind::api;
  if (name == "range") return ProfiledEvent::Kind::range;
  throw std::invalid_argument("no kind of event is called " + name);
}

/// One line for each event: kind, start, duration, stream, correlation, name.
/// @throws std::invalid_argument
inline std::vector<ProfiledEvent> events_from(const std::string& text) {
  std::vector<ProfiledEvent> events;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    std::istringstream words(line);
    std::string kind;
    ProfiledEvent event;
    words >> kind >> event.start_us >> event.duration_us >> event.stream >> event.correlation;
    std::getline(words >> std::ws, event.name);
    event.kind = kind_of(kind);
    events.push_back(event);
  }
  return events;
}

}  // namespace rooflab

#include "grader/spec/moment.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "grader/spec/toml_reader.h"

namespace rooflab {

namespace {

/// The parts of a moment as clocks of its zone show them.
struct OnClocks {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<std::chrono::seconds> time;
  std::string zone;  ///< "+01:00"
};

OnClocks on_clocks(const Moment& moment) {
  const std::chrono::sys_seconds local{
      std::chrono::seconds(moment.seconds + std::int64_t{moment.offset_minutes} * 60)};
  const auto day = std::chrono::floor<std::chrono::days>(local);
  const int away = std::abs(moment.offset_minutes);
  return {
      std::chrono::year_month_day(day), std::chrono::hh_mm_ss(local - day),
      fmt::format("{}{:02}:{:02}", moment.offset_minutes < 0 ? '-' : '+', away / 60, away % 60)};
}

std::string date_of(const OnClocks& shown) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(shown.date.year()),
                     static_cast<unsigned>(shown.date.month()),
                     static_cast<unsigned>(shown.date.day()));
}

}  // namespace

std::string text_of(const Moment& moment) {
  const OnClocks shown = on_clocks(moment);
  return fmt::format("{} {:02}:{:02} {}", date_of(shown), shown.time.hours().count(),
                     shown.time.minutes().count(), moment.offset_minutes == 0 ? "UTC" : shown.zone);
}

std::string toml_text_of(const Moment& moment) {
  const OnClocks shown = on_clocks(moment);
  return fmt::format("{}T{:02}:{:02}:{:02}{}", date_of(shown), shown.time.hours().count(),
                     shown.time.minutes().count(), shown.time.seconds().count(), shown.zone);
}

Moment moment_of(const std::string& text, const std::string& name) {
  const SpecError error(
      fmt::format("{}: \"{}\" is no date with a time and a zone; write it as in "
                  "2027-02-15T23:59:00+01:00, or with Z for UTC",
                  name, text));
  try {
    const toml::table table = parse_toml_text("at = " + text, name);
    TableReader reader(table, name, name);
    const Moment moment = reader.moment("at");
    reader.finish();
    return moment;
  } catch (const SpecError&) {
    throw SpecError(error);
  }
}

}  // namespace rooflab

#include "grader/spec/moment.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "grader/spec/toml_reader.h"

namespace rooflab {

std::string text_of(const Moment& moment) {
  const std::chrono::sys_seconds local{
      std::chrono::seconds(moment.seconds + std::int64_t{moment.offset_minutes} * 60)};
  const auto day = std::chrono::floor<std::chrono::days>(local);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(local - day);
  const int away = std::abs(moment.offset_minutes);
  const std::string zone = away == 0
                               ? "UTC"
                               : fmt::format("{}{:02}:{:02}", moment.offset_minutes < 0 ? '-' : '+',
                                             away / 60, away % 60);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} {}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), zone);
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

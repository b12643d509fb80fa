#include "grader/report/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <ctime>

#include "grader/spec/utf8.h"

namespace rooflab {
namespace {

/// U+FFFE and U+FFFF are no characters, and XML 1.0 forbids them.
bool is_no_character(std::string_view character) {
  return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

/// Three significant digits, without an exponent for the range that units leave.
std::string three_digits(double value) {
  const double magnitude = std::fabs(value);
  if (magnitude >= 100) return fmt::format("{:.0f}", value);
  if (magnitude >= 10) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

std::string scaled(double value, double base, const auto& units, std::string_view suffix) {
  std::size_t unit = 0;
  // 999.5 would print as 1000: step to the next unit instead.
  while (std::fabs(value) >= base - 0.5 && unit + 1 < units.size()) {
    value /= base;
    ++unit;
  }
  return fmt::format("{} {}{}", three_digits(value), units[unit], suffix);
}

/// Microseconds of the unit in which format_time_us() says a time.
double unit_us_of(double microseconds) {
  if (std::fabs(microseconds) < 0.9995) return 1e-3;
  double unit = 1;
  while (std::fabs(microseconds / unit) >= 999.5 && unit < 1e6) unit *= 1000;
  return unit;
}

/// Line and paragraph separators (U+2028, U+2029) and the marks that turn the direction of what
/// follows (U+202A to U+202E, U+2066 to U+2069): by them a text can look like another.
bool rearranges_lines(std::string_view sequence) {
  if (sequence.size() != 3) return false;
  const std::string_view block = sequence.substr(0, 2);
  const auto last = static_cast<std::uint8_t>(sequence[2]);
  return (block == "\xE2\x80" && last >= 0xA8 && last <= 0xAE) ||
         (block == "\xE2\x81" && last >= 0xA6 && last <= 0xA9);
}

/// "; disturbed samples: …", or nothing.
std::string format_disturbed(const Measured& by) {
  std::vector<std::string> ways;
  if (by.busy_before > 0) ways.push_back(fmt::format("{} on a busy GPU", by.busy_before));
  if (by.not_still > 0) {
    ways.push_back(fmt::format("{} of code that ran before its call", by.not_still));
  }
  if (by.beside_others > 0) {
    ways.push_back(fmt::format("{} beside another process's work", by.beside_others));
  }
  if (ways.empty()) return "";
  const std::string end = by.disturbed == 0
                              ? "others were taken"
                              : fmt::format("{} of them count for want of others", by.disturbed);
  return fmt::format("; disturbed samples: {}; {}", fmt::join(ways, ", "), end);
}

/// Of what can be earned here; 0 where a report would show none.
double points_missing(const TaskResult& task) {
  constexpr double kShown = 0.05;
  if (task.graded_later > 0) return 0;
  const double missing = task.max_score - task.score;
  return missing < kShown ? 0 : missing;
}

bool is_stub(const TaskResult& task) {
  return task.verdict == Verdict::not_implemented && task.score == 0 && !is_unfinished_log(task);
}

/// Where the missing points of a task are: "6 for edges, 3.4 for the time of 1024^3", or why all of
/// them are missing.
std::string missing_by(const TaskResult& task, double missing) {
  if (is_unfinished_log(task)) return "incomplete";
  if (task.verdict == Verdict::compile_error) return "it does not compile";
  if (task.verdict == Verdict::rejected) return "rejected";
  constexpr double kShown = 0.05;
  std::vector<std::string> parts;
  double left = missing;
  const auto add = [&](const std::string& name, double points) {
    if (points < kShown) return;
    parts.push_back(fmt::format("{} for {}", format_points(points), name));
    left -= points;
  };
  if (task.groups.size() > 1 || !task.timings.empty()) {
    for (const GroupResult& group : task.groups) add(group.name, group.max_score - group.score);
  }
  for (const Timing& timing : task.timings) {
    add("the time of " + timing.name, timing.max_points - timing.points +
                                          timing.launches.max_points - timing.launches.points +
                                          timing.dram_bytes.max_points - timing.dram_bytes.points);
  }
  add("hints", task.hints.points);
  if (!parts.empty()) add("the time", left);  // of cases that were not reached
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string sanitize(std::string_view bytes) {
  std::string clean;
  clean.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    const auto first = static_cast<std::uint8_t>(bytes[0]);
    // C1 controls (U+0080 to U+009F) are two bytes, and some terminals act on them too.
    const bool c1_control =
        length == 2 && first == 0xC2 && static_cast<std::uint8_t>(bytes[1]) < 0xA0;
    if (length == 0 || c1_control || rearranges_lines(bytes.substr(0, length)) ||
        is_no_character(bytes.substr(0, length))) {
      clean += "\xEF\xBF\xBD";  // U+FFFD
    } else if (first < 0x20 && first != '\n' && first != '\t') {
      clean += "\xE2\x90";  // U+2400 + control code
      clean += static_cast<char>(0x80 + first);
    } else if (first == 0x7F) {
      clean += "\xE2\x90\xA1";  // U+2421, the picture of DEL
    } else {
      clean.append(bytes.substr(0, length));
    }
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return clean;
}

std::string one_line(std::string_view bytes) {
  std::string line = sanitize(bytes);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return line;
}

std::string escape_html(std::string_view bytes) {
  std::string escaped;
  for (const char c : sanitize(bytes)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string shorten(const std::string& text, std::size_t most) {
  std::size_t end = 0;
  for (std::size_t characters = 0; end < text.size(); ++characters) {
    if (characters == most) break;
    end += std::max<std::size_t>(1, utf8_length(std::string_view(text).substr(end)));
  }
  if (end >= text.size()) return text;
  const std::size_t space = text.rfind(' ', end);
  if (space != std::string::npos && space >= end / 2) end = space;
  return text.substr(0, end) + "…";
}

std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::size_t start = 0;
  while (text.size() - start > width) {
    std::size_t space = text.rfind(' ', start + width);
    if (space == std::string::npos || space <= start) space = text.find(' ', start + width);
    if (space == std::string::npos) break;
    lines.push_back(text.substr(start, space - start));
    start = space + 1;
  }
  lines.push_back(text.substr(start));
  return lines;
}

const char* verdict_sign(Verdict verdict) {
  if (verdict == Verdict::pass) return "✓";
  return verdict == Verdict::not_implemented || verdict == Verdict::not_applicable ? "○" : "✗";
}

std::string verdict_words(Verdict verdict) {
  std::string words = name_of(verdict);
  std::ranges::replace(words, '-', ' ');
  return words;
}

bool is_unfinished_log(const TaskResult& task) {
  return task.verdict == Verdict::not_implemented && task.work_log;
}

std::string outcome_words(const TaskResult& task) {
  const bool is_open = task.verdict == Verdict::pass && task.graded_later > 0;
  if (is_unfinished_log(task)) return "incomplete";
  return is_open ? "answered" : verdict_words(task.verdict);
}

std::string points_words(const TaskResult& task) {
  const bool all_later = task.graded_later > 0 && task.graded_later >= task.max_score;
  return fmt::format("{}/{}", all_later ? "?" : format_points(task.score),
                     format_points(task.max_score));
}

std::vector<std::string> total_notes(const GradeResult& result) {
  std::vector<std::string> notes;
  for (const Ladder& ladder : result.ladders) {
    if (std::string words = ladder_words(ladder, result.tasks); !words.empty()) {
      notes.push_back(std::move(words));
    }
  }
  if (const double later = result.graded_later(); later > 0) {
    const double here = result.max_score() - later;
    notes.push_back((here > 0 ? fmt::format("{} of {} points checked here; ",
                                            format_points(result.score()), format_points(here))
                              : std::string()) +
                    fmt::format("{} {} graded after you hand in", format_points(later),
                                later == 1 ? "point is" : "points are"));
  }
  if (const int hidden = result.hidden_cases(); hidden > 0) {
    std::string tasks;
    for (const TaskResult& task : result.tasks) {
      if (task.hidden_cases == 0) continue;
      tasks += fmt::format("{}{} {}", tasks.empty() ? "" : ", ", task.id, task.hidden_cases);
    }
    notes.push_back(
        fmt::format("public cases only: the grading of the class has {} hidden {} as well ({})",
                    hidden, hidden == 1 ? "case" : "cases", tasks));
  }
  return notes;
}

std::string format_time_us(double microseconds) {
  static constexpr std::array<std::string_view, 3> kUnits{"us", "ms", "s"};
  if (std::fabs(microseconds) < 0.9995)
    return fmt::format("{} ns", three_digits(microseconds * 1e3));
  return scaled(microseconds, 1000, kUnits, "");
}

std::string format_si(double value, std::string_view unit) {
  static constexpr std::array<std::string_view, 6> kPrefixes{"", "k", "M", "G", "T", "P"};
  return scaled(value, 1000, kPrefixes, unit);
}

std::string format_count(double value) {
  if (value >= 1e6) return fmt::format("{:.3g}", value);
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string format_bytes(double bytes) {
  static constexpr std::array<std::string_view, 5> kPrefixes{"", "Ki", "Mi", "Gi", "Ti"};
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  return scaled(bytes, 1024, kPrefixes, "B");
}

std::string format_points(double points) {
  const double rounded = std::round(points * 10) / 10;
  return rounded == std::floor(rounded) ? fmt::format("{:.0f}", rounded)
                                        : fmt::format("{:.1f}", rounded);
}

std::string format_groups(const Diagnostic& story) {
  std::string text;
  for (const std::string& group : story.groups) text += (text.empty() ? "fails: " : ", ") + group;
  return text;
}

std::string format_lost_groups(const TaskResult& task) {
  if (task.graded_later > 0) return {};  // nothing is lost yet
  const auto has_none = [](const GroupResult& group) {
    return group.score < group.max_score || is_worse(group.verdict, Verdict::suspect);
  };
  const auto lost = std::ranges::count_if(task.groups, has_none);
  const bool alike = std::ranges::all_of(task.groups, [&](const GroupResult& group) {
    return has_none(group) && group.verdict == task.groups.front().verdict;
  });
  if (lost == 0 || alike) return {};
  std::string text;
  for (const GroupResult& group : task.groups) {
    if (!has_none(group)) continue;
    text += (text.empty() ? "" : " · ") + group.name;
    if (group.max_score >
        0) {  // a case alone is out of no points, and so are answers without a key
      text += fmt::format(" {}/{}", format_points(group.score), format_points(group.max_score));
    }
    if (group.verdict != task.verdict) text += fmt::format(" ({})", verdict_words(group.verdict));
  }
  return text;
}

std::string format_cases(const TaskResult& task) {
  if (task.graded_later > 0 || task.verdict == Verdict::not_implemented) return {};
  const auto right = std::ranges::count(task.cases, Verdict::pass, &CaseResult::verdict);
  const auto all = static_cast<std::ptrdiff_t>(task.cases.size());
  if (all < 2 || right == all) return {};
  const bool are_questions =
      std::ranges::all_of(task.cases, [](const CaseResult& one) { return one.name == one.group; });
  return fmt::format("{} of {} {}", right, all, are_questions ? "answers are right" : "cases pass");
}

std::string missing_words(const GradeResult& result) {
  const bool only_bonus = std::ranges::all_of(result.tasks, &TaskResult::bonus);
  std::string words;
  double sum = 0, open_points = 0;
  int open_tasks = 0;
  for (const TaskResult& task : result.tasks) {
    const double missing = points_missing(task);
    if (missing == 0 || task.bonus != only_bonus) continue;
    sum += missing;
    if (is_stub(task)) {  // the table names them
      open_points += missing;
      ++open_tasks;
      continue;
    }
    const std::string by = missing_by(task, missing);
    words += fmt::format("{}{} {}{}", words.empty() ? "" : " · ", task.id, format_points(missing),
                         by.empty() ? "" : " (" + by + ")");
  }
  if (words.empty()) return {};
  if (open_tasks > 0) {
    words +=
        fmt::format(" · {} in {}", format_points(open_points),
                    open_tasks == 1 ? "a task that is still a TODO"
                                    : fmt::format("{} tasks that are still a TODO", open_tasks));
  }
  const std::string points = format_points(sum);
  return fmt::format("{} {} missing: {}", points, points == "1" ? "point is" : "points are", words);
}

std::string format_rate(const Timing& timing) {
  const double seconds = timing.time_us * 1e-6;
  if (!(seconds > 0)) return "";
  return timing.bound == "compute" ? format_si(timing.flops / seconds, "FLOP/s")
                                   : format_si(timing.bytes / seconds, "B/s");
}

std::string format_traffic(const Timing& timing) {
  if (!timing.dram_bytes.count || !(timing.bytes > 0)) return "";
  return fmt::format("{:.2f}x the compulsory bytes", *timing.dram_bytes.count / timing.bytes);
}

std::string format_launches(const Timing& timing) {
  if (!timing.launches.count) return "";
  const auto launches = static_cast<std::uint64_t>(*timing.launches.count);
  std::string words = fmt::format("{} {}", launches, launches == 1 ? "launch" : "launches");
  if (timing.kernels != launches) words += fmt::format(" of {} kernels", timing.kernels);
  return words;
}

std::string format_time(const Timing& timing) {
  return (timing.at_least ? ">= " : "") + format_time_us(timing.time_us);
}

std::string format_efficiency(const Timing& timing) {
  if (timing.at_least && timing.efficiency == 0) return "an unknown share";
  return (timing.at_least ? "at most " : "") + format_percent(timing.efficiency);
}

std::string format_spread(const Timing& timing) {
  if (timing.modelled) {
    const std::string band =
        simgpu::in_words(*timing.modelled, timing.time_us, unit_us_of(timing.time_us));
    return band.empty() ? "" : ", " + band;
  }
  if (!timing.measured || !(timing.time_us > 0)) return "";
  return fmt::format(" ±{}", format_percent(timing.spread_us / timing.time_us));
}

std::string format_measured(const Timing& timing) {
  if (!timing.measured) return "";
  const Measured& by = *timing.measured;
  const auto away = [&](double end_us) { return 100 * (end_us / timing.time_us - 1); };
  std::string words =
      fmt::format("median of {} sample{}, known to {:+.2f} % and {:+.2f} %", by.samples,
                  by.samples == 1 ? "" : "s", away(by.low_us), away(by.high_us));
  if (by.clock_mhz > 0) words += fmt::format(", at {:.0f} MHz", by.clock_mhz);
  if (by.dropped > 0) {
    words += fmt::format("; {} sample{} dropped, taken while the GPU was throttled", by.dropped,
                         by.dropped == 1 ? "" : "s");
  }
  if (!by.clocks_watched) words += "; clocks were not watched";
  if (by.contradicted > 0) {
    words += fmt::format("; in {} the events disagreed with the grader's clock, which counts",
                         by.contradicted);
  }
  if (by.slow_clock > 0) {
    words += fmt::format("; {} sample{} dropped, at a lower clock than the others", by.slow_clock,
                         by.slow_clock == 1 ? "" : "s");
  }
  words += format_disturbed(by);
  if (!by.other_users.empty()) words += "; others on this GPU: " + in_words(by.other_users);
  if (!by.users_known) words += "; not everybody who may use this GPU can be seen from here";
  return words;
}

bool is_measured_with_trouble(const Timing& timing) {
  if (!timing.measured) return false;
  const Measured& by = *timing.measured;
  return by.dropped > 0 || by.contradicted > 0 || by.disturbed > 0 || !by.other_users.empty();
}

std::string format_hints(const TaskResult& task) {
  constexpr int kOfEach = 3;  // every task, function and question has three
  const HintUse& hints = task.hints;
  int shown = hints.shown;
  for (const HintUse::OfGroup& group : hints.groups) shown += group.shown;
  if (shown == 0) return "";
  std::string words;
  if (hints.of <= kOfEach && hints.groups.empty()) {
    words = fmt::format("{} of {} hints used", shown, hints.of);
  } else {
    const bool are_questions =
        !task.cases.empty() && std::ranges::all_of(task.cases, [](const CaseResult& one) {
          return one.name == one.group;
        });
    words = fmt::format("{} {} used, of {} for the task and for each {}", shown,
                        shown == 1 ? "hint" : "hints", kOfEach,
                        are_questions ? "question" : "function");
  }
  if (hints.points > 0) {
    words += fmt::format(", which cost {} {}", format_points(hints.points),
                         hints.points == 1 ? "point" : "points");
  }
  return words;
}

std::string format_percent(double fraction) { return three_digits(100 * fraction) + " %"; }

std::string utc_time(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm fields{};
  if (::gmtime_r(&time, &fields) == nullptr) return "an impossible time";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", 1900 + fields.tm_year, 1 + fields.tm_mon,
                     fields.tm_mday, fields.tm_hour, fields.tm_min);
}

std::string utc_date() { return utc_time(std::time(nullptr)).substr(0, 10); }

std::string peaks_words(const GradeResult& result) {
  return result.time_kind == "measured" ? " · peaks: " + result.peaks : std::string();
}

}  // namespace rooflab

#include "grader/report/work_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/report/text.h"

namespace rooflab {
namespace {

/// "2.2x faster", "1.05x slower"
std::string change_words(double before_us, double now_us) {
  const double factor = std::max(before_us, now_us) / std::min(before_us, now_us);
  if (factor < 1.005) return "the same time";
  return fmt::format("{:.{}f}x {}", factor, factor < 2 ? 2 : 1,
                     now_us < before_us ? "faster" : "slower");
}

/// "664 us -> 300 us (2.2x faster)"; of the first version the time alone.
std::string time_words(const LoggedVersion& version, const LoggedVersion* before) {
  if (!version.has_run) return "no logged run";
  const std::string now = format_time_us(version.time_us);
  if (before == nullptr) return now;
  return fmt::format("{} -> {} ({})", format_time_us(before->time_us), now,
                     change_words(before->time_us, version.time_us));
}

/// "bank conflicts 31 % -> 0 %"
std::string counter_words(const LoggedVersion& version) {
  if (version.counter.empty()) return "none named";
  std::string words = one_line(version.counter);
  if (version.is_compared) {
    return fmt::format("{} {} -> {}{}", words, version.counter_before, version.counter_now,
                       version.has_moved ? "" : ": it did not move");
  }
  if (!version.counter_now.empty()) return fmt::format("{} {}", words, version.counter_now);
  return words + (version.has_run ? ": not counted in this run" : "");
}

/// Where the figures are from, as far as they are not simply the student's run.
std::string source_words(const LoggedVersion& version) {
  std::string words;
  if (version.is_graded_again) words = "graded again from its kept files";
  if (!version.differs.empty()) words += (words.empty() ? "" : "; ") + one_line(version.differs);
  return words;
}

/// Calls `look` for each version with the one before it that has a run, or nullptr.
template <typename Look>
void for_each_version(const WorkLog& log, Look look) {
  const LoggedVersion* before = nullptr;
  for (const LoggedVersion& version : log.versions) {
    look(version, before);
    if (version.has_run) before = &version;
  }
}

std::string or_open(const std::string& text) { return text.empty() ? "(open)" : one_line(text); }

}  // namespace

std::string work_log_words(const WorkLog& log) {
  const LoggedVersion* first = nullptr;
  const LoggedVersion* last = nullptr;
  std::size_t with_run = 0;
  for (const LoggedVersion& version : log.versions) {
    if (!version.has_run) continue;
    if (first == nullptr) first = &version;
    last = &version;
    ++with_run;
  }
  if (last == nullptr) return "no version has a logged run";
  std::string words =
      fmt::format("{} in {} version{}", one_line(log.kernel), with_run, with_run == 1 ? "" : "s");
  if (first != last) {
    words +=
        fmt::format(": {} -> {}, {}", format_time_us(first->time_us), format_time_us(last->time_us),
                    change_words(first->time_us, last->time_us));
  }
  return words;
}

std::vector<std::string> work_log_lines(const WorkLog& log, std::size_t width) {
  constexpr std::size_t kNames = 12;  // columns of "  expected  "
  std::vector<std::string> lines;
  const auto add = [&](const char* name, const std::string& text) {
    const auto pieces = wrap(text, width - kNames);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      lines.push_back(fmt::format("  {:<{}}{}", i == 0 ? name : "", kNames - 2, pieces[i]));
    }
  };
  for_each_version(log, [&](const LoggedVersion& version, const LoggedVersion* before) {
    std::string head = fmt::format("version {}  {}", version.version, time_words(version, before));
    if (version.has_run) {
      head += fmt::format("  {} of the roofline", format_percent(version.efficiency));
    }
    if (version.has_run && !version.limiter.empty()) {
      head += "  limited by " + one_line(version.limiter);
    }
    lines.push_back(head);
    add("expected", or_open(version.hypothesis));
    add("counter", counter_words(version));
    add("result", or_open(version.result));
    if (const std::string source = source_words(version); !source.empty()) add("figures", source);
  });
  return lines;
}

std::string work_log_text(const WorkLog& log) {
  constexpr std::size_t kWidth = 100;
  std::string text = work_log_words(log) + "\n";
  for (const std::string& line : work_log_lines(log, kWidth)) text += line + "\n";
  return text;
}

std::string work_log_html(const WorkLog& log) {
  std::string rows;
  for_each_version(log, [&](const LoggedVersion& version, const LoggedVersion* before) {
    const std::string source = source_words(version);
    std::string figures = escape_html(time_words(version, before));
    if (version.has_run) {
      figures += fmt::format("<small>{} of the roofline on {}</small>",
                             format_percent(version.efficiency), escape_html(version.device));
    }
    if (!source.empty()) figures += fmt::format("<small>{}</small>", escape_html(source));
    const bool is_still = version.is_compared && !version.has_moved;
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td data-name=\"hypothesis\"><span>{}</span></td>"
        "<td data-name=\"counter\"><span{}>{}</span></td><td "
        "data-name=\"time\"><span>{}</span></td>"
        "<td data-name=\"limited by\"><span>{}</span></td>"
        "<td data-name=\"result\"><span>{}</span></td></tr>\n",
        version.version, escape_html(or_open(version.hypothesis)),
        is_still ? " class=\"missed\"" : "", escape_html(counter_words(version)), figures,
        escape_html(version.limiter), escape_html(or_open(version.result)));
  });
  return "<table class=\"timings log\"><thead><tr><th>version</th><th>hypothesis</th>"
         "<th>counter, before and after</th><th>time, before and after</th><th>limited by</th>"
         "<th>result</th></tr></thead><tbody>\n" +
         rows + "</tbody></table>\n";
}

}  // namespace rooflab

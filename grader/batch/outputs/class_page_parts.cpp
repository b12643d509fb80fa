#include "grader/batch/outputs/class_page_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/batch/outputs/class_statistics.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/write_outputs.h"
#include "grader/report/roofline_scatter.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

constexpr std::size_t kLongestName = 60;

/// "3 late", and nothing for none.
void add_count(std::string& words, std::size_t count, const char* what) {
  if (count == 0) return;
  words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, what);
}

std::string summary_html(const PartStatistics& statistics, const PartSummary& part) {
  const auto count = [&](PartState state) {
    const auto found = statistics.states.find(state);
    return found == statistics.states.end() ? 0 : found->second;
  };
  std::string words;
  add_count(words, count(PartState::graded), "graded");
  add_count(words, statistics.late, "late");
  add_count(words, count(PartState::not_submitted), "not handed in");
  add_count(words, count(PartState::undecided), "with two submissions to choose from");
  add_count(words, count(PartState::unreadable), "unreadable");
  add_count(words, count(PartState::ungraded), "not graded yet");
  add_count(words, count(PartState::fault), "not graded because the grader failed");
  if (statistics.pending > 0) words += ". " + waiting_words(statistics.pending);
  if (statistics.strangers > 0) {
    words += fmt::format("; {} more of nobody on the roster, in no figure", statistics.strangers);
  }
  if (statistics.totals.empty()) return "<p>" + words + ".</p>\n";
  const Quartiles points = quartiles_of(statistics.totals);
  words += fmt::format(". Of {} points: ", format_points(max_total(part)));
  if (statistics.totals.size() == 1)
    return fmt::format("<p>{}<b>{}</b>.</p>\n", words, format_points(points.mean));
  words += fmt::format("mean <b>{}</b>, median <b>{}</b>, ", format_points(points.mean),
                       format_points(points.median));
  if (statistics.totals.size() >= 4) {
    words += fmt::format("half of them from {} to {}, ", format_points(points.lower),
                         format_points(points.upper));
  }
  return fmt::format("<p>{}all from {} to {}.</p>\n", words, format_points(points.least),
                     format_points(points.most));
}

/// A column of the histogram; heights are relative to the highest.
std::string column_html(std::size_t count, std::size_t highest, const std::string& label,
                        const std::string& range, const char* css_class = "") {
  return fmt::format(
      "<li{} title=\"{}: {}\"><div class=\"column\"><span>{}</span><i "
      "style=\"height:{:.1f}%\"></i></div>"
      "{}</li>",
      css_class, range, count, count == 0 ? "" : fmt::format("{}", count),
      highest == 0 ? 0 : 85.0 * static_cast<double>(count) / static_cast<double>(highest), label);
}

std::string histogram_html(const PartStatistics& statistics) {
  if (statistics.totals.empty()) return {};
  std::size_t highest = statistics.above;
  for (const std::size_t count : statistics.tenths) highest = std::max(highest, count);
  std::string columns;
  for (std::size_t i = 0; i < statistics.tenths.size(); ++i) {
    columns += column_html(statistics.tenths[i], highest,
                           fmt::format("{}<small>–{}</small>", 10 * i, 10 * (i + 1)),
                           fmt::format("{} to {} %", 10 * i, 10 * (i + 1)));
  }
  if (statistics.above > 0) {
    columns += column_html(statistics.above, highest, "&gt;100", "above 100 %, by bonus",
                           " class=\"bonus\"");
  }
  return "<figure><ul class=\"histogram\" aria-label=\"Students by their share of the points\">" +
         columns +
         "</ul><figcaption class=\"note\">Students by their points, in percent of the part's "
         "maximum.</figcaption></figure>\n";
}

/// Where the class's efficiencies lie: all, the middle half, the median.
std::string spread_html(const std::vector<double>& efficiencies) {
  if (efficiencies.empty()) return {};
  const Quartiles at = quartiles_of(efficiencies);
  const auto percent = [](double value) { return 100 * std::clamp(value, 0.0, 1.0); };
  const auto span = [&](const char* name, double from, double to) {
    return fmt::format("<i class=\"{}\" style=\"left:{:.1f}%;width:{:.1f}%\"></i>", name,
                       percent(from), percent(to) - percent(from));
  };
  return fmt::format(
      "<span class=\"spread\" title=\"from {} to {}, half of them from {} to {}\">{}{}"
      "<i class=\"median\" style=\"left:{:.1f}%\"></i></span>{}",
      format_percent(at.least), format_percent(at.most), format_percent(at.lower),
      format_percent(at.upper), span("range", at.least, at.most), span("half", at.lower, at.upper),
      percent(at.median), format_percent(at.median));
}

std::string task_row(const TaskStatistics& task) {
  const double passed = static_cast<double>(task.passed) / static_cast<double>(task.graded);
  const std::string code = task.commonest_code.empty()
                               ? ""
                               : fmt::format("<b class=\"code\">{}</b> <small>{} {}</small>",
                                             escape_html(task.commonest_code), task.commonest_count,
                                             task.commonest_count == 1 ? "student" : "students");
  const std::string lost =
      task.hardest_group.empty()
          ? ""
          : fmt::format("{} <small>by {}</small>", escape_html(one_line(task.hardest_group)),
                        task.hardest_count);
  return fmt::format(
      "<tr><th scope=\"row\">{}{}<br><small>{}</small></th><td class=\"points\">{} {:.0f} %</td>"
      "<td class=\"number\">{} of {}</td><td class=\"points\">{}</td><td "
      "class=\"points\">{}</td><td class=\"points\">{}</td></tr>\n",
      escape_html(one_line(task.id)), task.bonus ? " <small>bonus</small>" : "",
      escape_html(one_line(task.title)), bar_html(passed), 100 * passed,
      format_points(task.mean_score), format_points(task.max_score), spread_html(task.efficiencies),
      code, lost);
}

std::string tasks_html(const PartStatistics& statistics) {
  if (statistics.tasks.empty()) return {};
  std::string rows;
  for (const TaskStatistics& task : statistics.tasks) rows += task_row(task);
  return "<div class=\"wide\"><table class=\"figures\"><thead><tr><th>task</th><th>passed</th>"
         "<th class=\"number\">mean points</th><th>efficiency, median</th><th>commonest "
         "diagnosis</th><th>cases lost most</th>"
         "</tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

/// One mark per student and task that was timed, in the order of the tasks.
std::vector<ScatterSeries> series_of(const ClassResults& results, int part,
                                     const std::vector<TaskStatistics>& tasks) {
  std::map<std::string, ScatterSeries> by_task;
  for (const StudentOutcome* student : members_of(results)) {
    const PartOutcome* outcome = outcome_of(*student, part);
    if (outcome == nullptr || outcome->state != PartState::graded) continue;
    for (const TaskLine& task : outcome->tasks) {
      if (!task.time_us || !(*task.time_us > 0) || !(task.bytes > 0)) continue;
      ScatterSeries& series = by_task[task.id];
      series.peak = task.peak;
      series.marks.push_back({display_name(student->student), task.flops / task.bytes,
                              task.flops / (*task.time_us * 1e-6)});
    }
  }
  std::vector<ScatterSeries> all;
  for (const TaskStatistics& task : tasks) {
    all.push_back(std::move(by_task[task.id]));
    all.back().label = task.id;
  }
  return all;
}

std::string scatter_html(const ClassResults& results, const PartSummary& part,
                         const std::vector<TaskStatistics>& tasks, const gpu_spec::GpuSpec& gpu) {
  const std::string chart =
      roofline_scatter(fmt::format("Part {} on the roofline of the {}", part.number, gpu.name),
                       series_of(results, part.number, tasks), gpu);
  if (chart.empty()) return {};
  return "<div class=\"wide\">" + chart +
         fmt::format(
             "</div><p class=\"note\">A mark is a student's {} run of a task's first timed "
             "case, at the intensity of the compulsory traffic; marks of one task are spread "
             "a little to both sides.</p>\n",
             escape_html(results.time_kind));
}

std::string points_cell(const PartOutcome* outcome) {
  if (outcome == nullptr) return "<td></td>";
  std::string words;
  switch (outcome->state) {
    case PartState::graded:
      words = format_points(outcome->total());
      if (!outcome->pending.empty()) words += " <small>pending</small>";
      break;
    case PartState::not_submitted:
      words = outcome->manual != 0 ? format_points(outcome->manual) : "–";
      break;
    case PartState::undecided:
      words = kChoose;
      break;
    case PartState::unreadable:
      words = "unreadable";
      break;
    case PartState::ungraded:
      words = "not yet";
      break;
    case PartState::fault:
      words = "fault";
      break;
  }
  const bool late = !outcome->lateness.empty();
  return fmt::format("<td class=\"number state {}\">{}{}</td>",
                     outcome->state == PartState::graded ? "" : name_of(outcome->state), words,
                     late ? "<small> late</small>" : "");
}

std::string student_row(const ClassResults& results, const StudentOutcome& student) {
  std::string cells;
  for (const PartSummary& part : results.parts) {
    cells += points_cell(outcome_of(student, part.number));
  }
  const auto total = total_of(student);
  return fmt::format(
      "<tr><th scope=\"row\">{}{}</th><td>{}</td>{}<td "
      "class=\"number\"><b>{}</b></td><td>{}</td></tr>\n",
      student_link(student.student),
      is_stranger(results, student) ? " <small>not on the roster</small>" : "",
      escape_html(shorten(one_line(student.student.section), kLongestName)), cells,
      total ? format_points(*total) : "–",
      escape_html(shorten(one_line(student.submission), kLongestName)));
}

}  // namespace

std::string student_link(const Student& student) {
  return fmt::format("<a href=\"feedback/{}.html\"><bdi>{}</bdi></a>", file_stem(student.key),
                     escape_html(shorten(display_name(student), kLongestName)));
}

std::string bar_html(double fraction) {
  return fmt::format("<span class=\"bar\"><i style=\"width:{:.0f}%\"></i></span>",
                     100 * std::clamp(fraction, 0.0, 1.0));
}

std::string part_html(const ClassResults& results, const PartSummary& part,
                      const gpu_spec::GpuSpec& gpu) {
  const PartStatistics statistics = statistics_of(results, part);
  return fmt::format("<section class=\"part\" id=\"part{0}\"><h2>Part {0}, {1}</h2>\n", part.number,
                     escape_html(one_line(part.title))) +
         summary_html(statistics, part) + histogram_html(statistics) + tasks_html(statistics) +
         scatter_html(results, part, statistics.tasks, gpu) + "</section>\n";
}

std::string students_html(const ClassResults& results) {
  std::string headings;
  for (const PartSummary& part : results.parts) {
    headings += fmt::format("<th class=\"number\">part {}<br><small>of {}</small></th>",
                            part.number, format_points(max_total(part)));
  }
  std::string rows;
  for (const StudentOutcome& student : results.students) rows += student_row(results, student);
  return fmt::format(
      "<section class=\"long\" id=\"students\"><h2>Students</h2><div class=\"wide\">"
      "<table class=\"figures\"><thead><tr><th>student</th><th>section</th>{}"
      "<th class=\"number\">total<br><small>of "
      "{}</small></th><th>submission</th></tr></thead><tbody>\n"
      "{}</tbody></table></div></section>\n",
      headings, format_points(max_total(results)), rows);
}

}  // namespace rooflab

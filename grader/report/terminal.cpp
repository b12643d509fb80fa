#include "grader/report/terminal.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/report/since_last_run.h"
#include "grader/report/tests_table.h"
#include "grader/report/text.h"
#include "grader/report/work_log.h"

namespace rooflab {
namespace {

constexpr std::size_t kLineWidth = 100;    ///< of stories; source lines may be longer
constexpr std::size_t kShownCounters = 2;  ///< of those that moved since the last run
constexpr std::size_t kDetailWidth = 100;  ///< of what stands behind the points of a task

/// Paints text for a terminal, or leaves it as it is.
class Painter {
 public:
  explicit Painter(bool on) : on_(on) {}
  std::string bold(const std::string& text) const { return paint("1", text); }
  std::string red(const std::string& text) const { return paint("1;31", text); }
  std::string green(const std::string& text) const { return paint("32", text); }
  std::string yellow(const std::string& text) const { return paint("33", text); }
  std::string dim(const std::string& text) const { return paint("2", text); }

 private:
  std::string paint(const char* code, const std::string& text) const {
    return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  bool on_;
};

/// One source line with its underline and label, numbers right-aligned in `width` columns.
void print_label(std::ostream& out, const Label& label, std::size_t width, bool primary,
                 const Painter& paint) {
  out << fmt::format("{:>{}} | {}\n", label.line, width, one_line(label.excerpt));
  if (label.text.empty()) return;
  const std::size_t indent = label.column > 0 ? label.column - 1 : 0;
  const std::string underline(std::max<std::uint32_t>(1, label.length), primary ? '^' : '-');
  const auto marked = [&](const std::string& words) {
    out << fmt::format("{:>{}} | {:{}}{}\n", "", width, "", indent,
                       primary ? paint.red(words) : paint.bold(words));
  };
  if (indent + underline.size() + label.text.size() < kLineWidth) {
    marked(underline + " " + one_line(label.text));
  } else {
    marked(underline);
    marked(one_line(label.text));
  }
}

/// Labels grouped under one "-->" per file.
void print_labels(std::ostream& out, const Diagnostic& diagnostic, const Painter& paint) {
  std::uint32_t largest = diagnostic.line;
  for (const Label& label : diagnostic.labels) largest = std::max(largest, label.line);
  const std::size_t width = std::to_string(largest).size();
  std::string place = one_line(diagnostic.file);
  if (diagnostic.line > 0) place += fmt::format(":{}", diagnostic.line);
  if (diagnostic.line > 0 && !diagnostic.labels.empty() && diagnostic.labels.front().column > 0) {
    place += fmt::format(":{}", diagnostic.labels.front().column);
  }
  if (!diagnostic.context.empty())
    place += (place.empty() ? "" : ", ") + one_line(diagnostic.context);
  if (place.empty()) return;
  out << fmt::format("{:>{}}--> {}\n", "", width, place);
  if (diagnostic.labels.empty()) return;
  out << fmt::format("{:>{}} |\n", "", width);
  std::string file = diagnostic.file;
  for (std::size_t i = 0; i < diagnostic.labels.size(); ++i) {
    const Label& label = diagnostic.labels[i];
    if (label.file != file) {
      out << fmt::format("{:>{}}::: {}\n", "", width, one_line(label.file));
      file = label.file;
    }
    print_label(out, label, width, i == 0, paint);
  }
  out << fmt::format("{:>{}} |\n", "", width);
}

void print_evidence(std::ostream& out, const Diagnostic& diagnostic) {
  if (const std::string groups = format_groups(diagnostic); !groups.empty()) {
    out << one_line(groups) << '\n';
  }
  for (std::size_t i = 0; i < diagnostic.evidence.size(); ++i) {
    out << (i == 0 ? "Effect: " : "  ") << one_line(diagnostic.evidence[i]) << '\n';
  }
  if (diagnostic.pattern.empty()) return;
  out << "  pattern (. right, x wrong)\n";
  for (const std::string& row : diagnostic.pattern) out << "    " << one_line(row) << '\n';
}

std::string painted_verdict(const TaskResult& task, const std::string& padded,
                            const Painter& paint) {
  if (task.verdict == Verdict::pass && task.graded_later > 0) return paint.yellow(padded);
  if (task.verdict == Verdict::pass) return paint.green(padded);
  if (task.verdict == Verdict::not_implemented || task.verdict == Verdict::not_applicable) {
    return paint.yellow(padded);
  }
  return paint.red(padded);
}

std::string timing_words(const Timing& timing) {
  std::string words = fmt::format(
      "{}  {}{}{}  {}  {} of the roofline", timing.name, format_time(timing), format_spread(timing),
      timing.sampled ? " (sampled)" : "", format_rate(timing), format_efficiency(timing));
  if (timing.efficiency < timing.target_efficiency) {
    words += fmt::format("  full marks at {}", format_percent(timing.target_efficiency));
  }
  return words;
}

/// What the call took of what the device counts, each with what full marks ask for where that is
/// missed: "8 launches (full marks at 1) · 96.0 MiB of DRAM traffic, 3.20x the compulsory bytes".
std::string count_words(const Timing& timing) {
  std::string words = format_launches(timing);
  const auto missed = [](const Counted& counted) { return counted.points < counted.max_points; };
  if (missed(timing.launches) && timing.launches.count) {
    words += fmt::format(" (full marks at {:.0f})", timing.launches.full);
  }
  if (timing.dram_bytes.count) {
    words += fmt::format(" · {} of DRAM traffic", format_bytes(*timing.dram_bytes.count));
    if (timing.bytes > 0) words += ", " + format_traffic(timing);
    if (missed(timing.dram_bytes)) {
      words += fmt::format(" (full marks at {:.2f}x)", timing.dram_bytes.full / timing.bytes);
    }
  }
  if (timing.peak_memory) {
    words += fmt::format(" · {} of memory beside the tensors",
                         format_bytes(static_cast<double>(*timing.peak_memory)));
  }
  return words;
}

/// Whether counts are worth a line in a summary: they earn points.
bool has_scored_counts(const Timing& timing) {
  return timing.launches.max_points + timing.dram_bytes.max_points > 0;
}

/// What stands behind the points: the timing, or the first diagnosis.
std::string task_detail(const TaskResult& task) {
  if (task.verdict != Verdict::pass && !task.diagnostics.empty()) {
    const Diagnostic& first = task.diagnostics.front();
    std::string place = first.file;
    if (first.line > 0) place += fmt::format(":{}", first.line);
    // Some messages open with the file themselves.
    if (place.empty() || first.message.starts_with(first.file)) place.clear();
    const std::string group = first.groups.size() == 1 ? first.groups.front() + ": " : "";
    return fmt::format("{}{}{} {}", first.code.text(), place.empty() ? "" : " ", place,
                       shorten(one_line(group + first.message), kDetailWidth));
  }
  return task.timings.empty() ? task.summary : timing_words(task.timings.front());
}

/// What would make the call faster. Where its time has full marks one line, and only if that would
/// save a third of it.
std::string advice_words(const Timing& timing) {
  const bool has_full_marks =
      timing.efficiency >= timing.target_efficiency && timing.points >= timing.max_points;
  if (!has_full_marks) return one_line(timing.advice);
  constexpr double kWorthKnowing = 2.0 / 3;
  const Limit& limit = timing.limit;
  if (limit.what.empty() || limit.without_us > kWorthKnowing * timing.time_us) return {};
  return one_line(fmt::format("{}limited by {}, without which it takes {}: {}",
                              timing.max_points > 0 ? "full marks for speed, and still " : "",
                              limit.what, format_time_us(limit.without_us), limit.change));
}

/// The lines that take most of the time of a call that misses full marks, three at most.
std::vector<std::string> line_words(const Timing& timing) {
  constexpr std::size_t kMost = 3;
  constexpr double kLittle = 0.05;
  const bool has_full_marks =
      timing.efficiency >= timing.target_efficiency && timing.points >= timing.max_points;
  const SourceCosts& costs = timing.costs;
  std::vector<std::string> words;
  if (has_full_marks || costs.kernels_us <= 0) return words;
  for (const LineCost& line : costs.lines) {
    const double share = line.record.time_us / costs.kernels_us;
    if (words.size() == kMost || share < kLittle) break;
    const std::size_t indent = std::min(line.source.find_first_not_of(' '), line.source.size());
    const std::string source = line.source.substr(indent);
    words.push_back(one_line(fmt::format("{} at {}:{}{}{}", format_percent(share), line.record.file,
                                         line.record.line, source.empty() ? "" : ": ",
                                         shorten(source, kDetailWidth / 2))));
    if (!line.words.empty()) words.push_back("  " + one_line(line.words));
  }
  return words;
}

/// What stands below a task's line: what was counted of its timed call and what would help it, its
/// further timings and the memory of its cases where they are asked for.
void print_timings(std::ostream& out, const TaskResult& task, std::size_t indent, bool all,
                   const Painter& paint) {
  const auto dim_lines = [&](const std::string& text) {
    if (text.empty()) return;
    for (const std::string& words : wrap(text, kDetailWidth)) {
      out << fmt::format("{:{}}{}\n", "", indent, paint.dim(words));
    }
  };
  const Timing& first = task.timings.front();
  const bool passed = task.verdict == Verdict::pass;
  if (!passed) dim_lines(one_line(timing_words(first)));  // its own line has a diagnosis
  if (passed && (all || has_scored_counts(first))) dim_lines(count_words(first));
  if (all || is_measured_with_trouble(first)) dim_lines(format_measured(first));
  dim_lines(advice_words(first));
  for (const std::string& words : line_words(first)) dim_lines(words);
  if (!all || !passed) return;
  for (std::size_t i = 1; i < task.timings.size(); ++i) {
    out << fmt::format("{:{}}{}\n", "", indent, one_line(timing_words(task.timings[i])));
    dim_lines(count_words(task.timings[i]));
    dim_lines(format_measured(task.timings[i]));
    dim_lines(advice_words(task.timings[i]));
  }
}

void print_case_memory(std::ostream& out, const TaskResult& task, std::size_t indent) {
  for (const CaseResult& one : task.cases) {
    if (!one.peak_memory) continue;
    out << fmt::format("{:{}}{}  {} of memory beside the tensors\n", "", indent, one_line(one.name),
                       format_bytes(static_cast<double>(*one.peak_memory)));
  }
}

void print_work_log(std::ostream& out, const WorkLog& log, const Painter& paint) {
  out << '\n';
  for (const std::string& line : work_log_lines(log, kDetailWidth)) {
    out << "  " << (line.starts_with("version") ? paint.bold(line) : line) << '\n';
  }
}

void print_tests(std::ostream& out, const TestsTable& table) {
  out << '\n';
  for (const std::string& line : tests_table_lines(table, kDetailWidth))
    out << "  " << line << '\n';
}

void print_task(std::ostream& out, const TaskResult& task, std::size_t width,
                const TerminalStyle& style) {
  const Painter paint(style.colour);
  const std::string points = style.single_case > 0 ? "" : points_words(task);
  const std::string before = fmt::format("  {:<{}}  ", one_line(task.id), width);
  const std::string verdict = fmt::format("{:<16}", outcome_words(task));
  out << before << painted_verdict(task, verdict, paint)
      << fmt::format("{:>7}  {}\n", points + (task.bonus ? "*" : " "), one_line(task_detail(task)));
  if (!task.timings.empty()) {
    print_timings(out, task, before.size(), style.all_timings, paint);
  }
  const auto below = [&](const std::string& text) {
    for (const std::string& words : wrap(text, kDetailWidth)) {
      out << fmt::format("{:{}}{}\n", "", before.size(), paint.dim(words));
    }
  };
  std::string lost = format_cases(task);
  if (const std::string groups = format_lost_groups(task); !groups.empty()) {
    lost += (lost.empty() ? "" : " · ") + groups;
  }
  if (!lost.empty()) below(one_line(lost));
  if (task.since_last_run) {
    below("since the last run: " + words_of(*task.since_last_run, task, kShownCounters));
  }
  if (const std::string hints = format_hints(task); !hints.empty()) below(hints);
  if (style.all_timings) print_case_memory(out, task, before.size());
  if (style.all_timings && task.work_log) print_work_log(out, *task.work_log, paint);
  if (style.all_timings && task.tests) print_tests(out, *task.tests);
}

/// One of a story's commands; empty where it has none of that name.
std::string command_of(const Diagnostic& diagnostic, std::string_view name) {
  for (const auto& [label, command] : diagnostic.commands) {
    if (label == name) return command;
  }
  return {};
}

/// A finding after the first of its task: the cause and the place, without a story of its own; and
/// the command that repeats its case, where that is not the first finding's.
void print_further(std::ostream& out, const Diagnostic& diagnostic, const Diagnostic& first,
                   const Painter& paint) {
  const std::string groups = format_groups(diagnostic);
  out << paint.bold(fmt::format("also[{}]", diagnostic.code.text())) << ": "
      << one_line(diagnostic.message) << (groups.empty() ? "" : " (" + one_line(groups) + ")")
      << '\n';
  if (diagnostic.line > 0) {
    out << fmt::format(" --> {}:{}\n", one_line(diagnostic.file), diagnostic.line);
  }
  constexpr const char* kCase = "this case";
  if (const std::string command = command_of(diagnostic, kCase);
      !command.empty() && command != command_of(first, kCase)) {
    out << fmt::format("  {}  {}\n", kCase, one_line(command));
  }
  if (diagnostic.code != "RL0408") return;
  // Each answer is a story of its own, which begins with what was asked.
  for (const std::string& line : diagnostic.evidence) out << "  " << one_line(line) << '\n';
}

/// A right answer that leaks memory, is slow or takes too much gets a warning, and a kernel of
/// which the race checker could not keep all in mind; a time that cannot be trusted is a fault.
bool is_warning(const Diagnostic& diagnostic) {
  const bool is_of_kernel = !diagnostic.context.empty();
  return diagnostic.code.role() == simgpu::CodeRole::advice || diagnostic.code == "RL0309" ||
         (diagnostic.code == "RL0615" && is_of_kernel);
}

/// The last lines that a task's code printed, which are as long and as many as it likes.
void print_printed(std::ostream& out, const TaskResult& task, const Painter& paint) {
  constexpr std::size_t kMostLines = 20;
  constexpr std::size_t kLongestLine = 200;
  std::string_view rest = task.printed;
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == '\r')) rest.remove_suffix(1);
  if (rest.empty()) return;
  const auto count = 1 + static_cast<std::size_t>(std::ranges::count(rest, '\n'));
  for (std::size_t skipped = kMostLines; skipped < count; ++skipped) {
    rest.remove_prefix(rest.find('\n') + 1);
  }
  out << paint.dim(fmt::format(
             "── printed by {}{} ──", one_line(task.id),
             count > kMostLines ? fmt::format(", the last {} of {} lines", kMostLines, count) : ""))
      << '\n';
  for (bool more = true; more;) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    out << "| " << shorten(one_line(line.substr(0, 4 * kLongestLine)), kLongestLine) << '\n';
    more = end != std::string_view::npos;
    if (more) rest.remove_prefix(end + 1);
  }
  out << '\n';
}

/// A single case earns nothing, so its line says how it went instead.
std::string single_case_words(const GradeResult& result, int number) {
  const bool passes = result.tasks.front().verdict == Verdict::pass;
  return fmt::format("{}: case {} {}; a single case earns no points",
                     one_line(result.tasks.front().id), number,
                     passes ? "passes" : "does not pass");
}

/// "gemm_naive: 10 of 10", or of a task that people judge later how it stands.
std::string single_task_words(const TaskResult& task) {
  const bool all_later = task.graded_later > 0 && task.graded_later >= task.max_score;
  if (all_later) return fmt::format("{}: {}", one_line(task.id), outcome_words(task));
  return fmt::format("{}: {} of {}{}", one_line(task.id), format_points(task.score),
                     format_points(task.max_score), task.bonus ? " bonus*" : "");
}

/// "90 of 100 and 10 of 20 bonus*"
std::string score_words(const GradeResult& result) {
  const auto of = [](double score, double most) {
    return fmt::format("{} of {}", format_points(score), format_points(most));
  };
  const std::string core = of(result.score(), result.max_score());
  if (result.max_bonus() == 0) return core;
  const std::string bonus = of(result.bonus(), result.max_bonus()) + " bonus*";
  return result.max_score() > 0 ? core + " and " + bonus : bonus;
}

}  // namespace

void print_story(std::ostream& out, const Diagnostic& diagnostic, bool colour) {
  const Painter paint(colour);
  out << (is_warning(diagnostic) ? paint.yellow(fmt::format("warning[{}]", diagnostic.code.text()))
                                 : paint.red(fmt::format("error[{}]", diagnostic.code.text())))
      << paint.bold(": " + one_line(diagnostic.message)) << '\n';
  print_labels(out, diagnostic, paint);
  print_evidence(out, diagnostic);
  for (const std::string& note : diagnostic.notes) out << "note: " << one_line(note) << '\n';
  if (!diagnostic.help.empty())
    out << paint.green("help") << ": " << one_line(diagnostic.help) << '\n';
  std::size_t width = 0;
  for (const auto& [label, command] : diagnostic.commands) width = std::max(width, label.size());
  for (const auto& [label, command] : diagnostic.commands) {
    out << fmt::format("  {:<{}}  {}\n", label, width, one_line(command));
  }
}

void print_report(std::ostream& out, const GradeResult& result, const TerminalStyle& style) {
  for (const TaskResult& task : result.tasks) print_stories(out, task, style.colour);
  print_summary(out, result, style);
}

void print_stories(std::ostream& out, const TaskResult& task, bool colour) {
  // A stub needs no story: its line in the table says where it stands.
  const bool is_stub = task.verdict == Verdict::not_implemented && !is_unfinished_log(task);
  if (is_stub || task.verdict == Verdict::not_applicable) return;
  if (task.diagnostics.empty()) return;
  const Painter paint(colour);
  out << paint.dim(fmt::format("── {} ──", one_line(task.id))) << '\n';
  print_story(out, task.diagnostics.front(), colour);
  // A file with few answers would be a wall of what it lacks.
  constexpr std::size_t kMostAnswers = 5;
  const bool is_answers = task.diagnostics.front().code == "RL0408";
  const std::size_t shown =
      is_answers ? std::min(task.diagnostics.size(), kMostAnswers) : task.diagnostics.size();
  for (std::size_t i = 1; i < shown; ++i) {
    print_further(out, task.diagnostics[i], task.diagnostics.front(), paint);
  }
  if (const std::size_t more = task.diagnostics.size() - shown; more > 0) {
    out << fmt::format("and {} more {}, each of them in the report\n", more,
                       more == 1 ? "answer" : "answers");
  }
  out << '\n';
}

void print_summary(std::ostream& out, const GradeResult& result, const TerminalStyle& style) {
  const Painter paint(style.colour);
  if (style.printed) {
    for (const TaskResult& task : result.tasks) print_printed(out, task, paint);
  }
  out << paint.bold(fmt::format("Part {}, {}", result.part, one_line(result.title)))
      << fmt::format(" · {} · times are {}{} · seed {}\n\n", one_line(result.device_name),
                     result.time_kind, one_line(peaks_words(result)), text_of(result.seed));
  std::size_t width = 0;
  for (const TaskResult& task : result.tasks) width = std::max(width, task.id.size());
  for (const TaskResult& task : result.tasks) {
    const auto& shown = style.lines_of;
    const bool has_line = shown.empty() || std::ranges::find(shown, task.id) != shown.end();
    if (has_line) print_task(out, task, width, style);
  }
  const bool is_single = style.single_case > 0 && !result.tasks.empty();
  const bool is_task = style.single_task && result.tasks.size() == 1;
  out << '\n'
      << paint.bold(is_single ? single_case_words(result, style.single_case)
                    : is_task ? single_task_words(result.tasks.front())
                              : fmt::format("Part {}: {}", result.part, score_words(result)));
  if (!style.html.empty()) out << " · report " << style.html;
  out << fmt::format(" · {:.1f} s (build {:.1f} s, run {:.1f} s)\n", result.build_s + result.run_s,
                     result.build_s, result.run_s);
  if (is_single) return;
  if (!style.part_so_far.empty()) out << "  " << style.part_so_far << '\n';
  // Of a single task without a time, its own line has it all.
  const bool is_plain = result.tasks.size() == 1 && result.tasks.front().timings.empty();
  const std::string missing = is_plain ? std::string() : one_line(missing_words(result));
  for (const std::string& words : wrap(missing, kLineWidth)) {
    if (!words.empty()) out << "  " << words << '\n';
  }
  for (const std::string& note : total_notes(result)) out << "  " << one_line(note) << '\n';
}

}  // namespace rooflab

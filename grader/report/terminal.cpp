#include "grader/report/terminal.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/report/text.h"

namespace rooflab {
namespace {

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
  out << fmt::format("{:>{}} | {}\n", label.line, width, sanitize(label.excerpt));
  if (label.text.empty()) return;
  const std::size_t indent = label.column > 0 ? label.column - 1 : 0;
  const std::string underline(std::max<std::uint32_t>(1, label.length), primary ? '^' : '-');
  const std::string text = fmt::format("{} {}", underline, sanitize(label.text));
  out << fmt::format("{:>{}} | {:{}}{}\n", "", width, "", indent,
                     primary ? paint.red(text) : paint.bold(text));
}

/// Labels grouped under one "-->" per file.
void print_labels(std::ostream& out, const Diagnostic& diagnostic, const Painter& paint) {
  std::uint32_t largest = diagnostic.line;
  for (const Label& label : diagnostic.labels) largest = std::max(largest, label.line);
  const std::size_t width = std::to_string(largest).size();
  std::string place = sanitize(diagnostic.file);
  if (diagnostic.line > 0) place += fmt::format(":{}", diagnostic.line);
  if (diagnostic.line > 0 && !diagnostic.labels.empty() && diagnostic.labels.front().column > 0) {
    place += fmt::format(":{}", diagnostic.labels.front().column);
  }
  if (!diagnostic.context.empty())
    place += (place.empty() ? "" : ", ") + sanitize(diagnostic.context);
  if (place.empty()) return;
  out << fmt::format("{:>{}}--> {}\n", "", width, place);
  if (diagnostic.labels.empty()) return;
  out << fmt::format("{:>{}} |\n", "", width);
  std::string file = diagnostic.file;
  for (std::size_t i = 0; i < diagnostic.labels.size(); ++i) {
    const Label& label = diagnostic.labels[i];
    if (label.file != file) {
      out << fmt::format("{:>{}}::: {}\n", "", width, sanitize(label.file));
      file = label.file;
    }
    print_label(out, label, width, i == 0, paint);
  }
  out << fmt::format("{:>{}} |\n", "", width);
}

void print_evidence(std::ostream& out, const Diagnostic& diagnostic) {
  for (std::size_t i = 0; i < diagnostic.evidence.size(); ++i) {
    out << (i == 0 ? "Effect: " : "  ") << sanitize(diagnostic.evidence[i]) << '\n';
  }
  if (diagnostic.pattern.empty()) return;
  out << "  pattern (. right, x wrong)\n";
  for (const std::string& row : diagnostic.pattern) out << "    " << sanitize(row) << '\n';
}

std::string verdict_words(Verdict verdict) {
  std::string words = name_of(verdict);
  std::replace(words.begin(), words.end(), '-', ' ');
  return words;
}

std::string painted_verdict(const TaskResult& task, const std::string& padded,
                            const Painter& paint) {
  if (task.verdict == Verdict::pass) return paint.green(padded);
  if (task.verdict == Verdict::not_implemented) return paint.yellow(padded);
  return paint.red(padded);
}

/// What stands behind the points: the timing, or the first diagnosis.
std::string task_detail(const TaskResult& task) {
  if (task.verdict != Verdict::pass && !task.diagnostics.empty()) {
    const Diagnostic& first = task.diagnostics.front();
    std::string place = first.file;
    if (first.line > 0) place += fmt::format(":{}", first.line);
    return fmt::format("{}{}{} {}", first.code, place.empty() ? "" : " ", place, first.message);
  }
  if (!task.timing) return task.summary;
  const Timing& timing = *task.timing;
  const double seconds = timing.time_us * 1e-6;
  const bool compute = timing.bound == "compute";
  std::string detail =
      fmt::format("{}  {}  {}  {} of the roofline", timing.size, format_time_us(timing.time_us),
                  compute ? format_si(timing.flops / seconds, "FLOP/s")
                          : format_si(timing.bytes / seconds, "B/s"),
                  format_percent(timing.efficiency));
  if (timing.efficiency < timing.target_efficiency) {
    detail += fmt::format("  full marks at {}", format_percent(timing.target_efficiency));
  }
  return detail;
}

void print_task(std::ostream& out, const TaskResult& task, std::size_t width,
                const Painter& paint) {
  const std::string points =
      fmt::format("{}/{}", format_points(task.score), format_points(task.max_score));
  const std::string padded = fmt::format("{:<16}", verdict_words(task.verdict));
  out << fmt::format("  {:<{}}  {}{:>7}  {}\n", sanitize(task.id), width,
                     painted_verdict(task, padded, paint), points + (task.bonus ? "*" : " "),
                     sanitize(task_detail(task)));
  const bool slow = task.timing && task.timing->efficiency < task.timing->target_efficiency;
  if (slow && !task.timing->advice.empty()) {
    out << fmt::format("  {:<{}}  {}\n", "", width, paint.dim(task.timing->advice));
  }
}

std::string score_words(const GradeResult& result) {
  std::string words =
      fmt::format("{} of {}", format_points(result.score()), format_points(result.max_score()));
  const bool has_bonus = std::any_of(result.tasks.begin(), result.tasks.end(),
                                     [](const TaskResult& t) { return t.bonus; });
  if (has_bonus) words += fmt::format(" and {} bonus*", format_points(result.bonus()));
  return words;
}

}  // namespace

void print_story(std::ostream& out, const Diagnostic& diagnostic, bool colour) {
  const Painter paint(colour);
  out << paint.red(fmt::format("error[{}]", diagnostic.code))
      << paint.bold(": " + sanitize(diagnostic.message)) << '\n';
  print_labels(out, diagnostic, paint);
  print_evidence(out, diagnostic);
  for (const std::string& note : diagnostic.notes) out << "note: " << sanitize(note) << '\n';
  if (!diagnostic.help.empty())
    out << paint.green("help") << ": " << sanitize(diagnostic.help) << '\n';
  std::size_t width = 0;
  for (const auto& [label, command] : diagnostic.commands) width = std::max(width, label.size());
  for (const auto& [label, command] : diagnostic.commands) {
    out << fmt::format("  {:<{}}  {}\n", label, width, sanitize(command));
  }
}

void print_report(std::ostream& out, const GradeResult& result, const TerminalStyle& style) {
  const Painter paint(style.colour);
  for (const TaskResult& task : result.tasks) {
    // A stub needs no story: its line in the table says where it stands.
    if (task.verdict == Verdict::not_implemented) continue;
    for (const Diagnostic& diagnostic : task.diagnostics) {
      out << paint.dim(fmt::format("── {} ", sanitize(task.id))) << '\n';
      print_story(out, diagnostic, style.colour);
      out << '\n';
    }
  }
  out << paint.bold(fmt::format("Part {}, {}", result.part, sanitize(result.title)))
      << fmt::format(" · {} · times are {} · seed {}\n\n", sanitize(result.device_name),
                     result.time_kind, result.seed);
  std::size_t width = 0;
  for (const TaskResult& task : result.tasks) width = std::max(width, task.id.size());
  for (const TaskResult& task : result.tasks) print_task(out, task, width, paint);
  out << '\n' << paint.bold(fmt::format("Part {}: {}", result.part, score_words(result)));
  if (!style.html.empty()) out << " · report " << style.html;
  out << fmt::format(" · {:.1f} s (build {:.1f} s, run {:.1f} s)\n", result.build_s + result.run_s,
                     result.build_s, result.run_s);
}

}  // namespace rooflab

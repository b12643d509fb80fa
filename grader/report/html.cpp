#include "grader/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "grader/report/charts.h"
#include "grader/report/html_page.h"
#include "grader/report/limit_gain.h"
#include "grader/report/since_last_run.h"
#include "grader/report/source_page.h"
#include "grader/report/tests_table.h"
#include "grader/report/text.h"
#include "grader/report/work_log.h"
#include "simgpu/limiter.h"

namespace rooflab {
namespace {

std::string words_of(std::string text) {
  std::replace(text.begin(), text.end(), '-', ' ');
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

/// A term of the time model in words: "the L1 cache" for "l1".
std::string limiter_words(const std::string& name) {
  const auto limiter = simgpu::limiter_named(name);
  return limiter ? simgpu::words_of(*limiter) : words_of(name);
}

/// The total, with bonus points told apart; where bonus tasks alone were graded, theirs.
std::string score_html(const GradeResult& result) {
  const auto of = [](double score, double most, const char* what) {
    return fmt::format("<b>{}</b> of {} {}", format_points(score), format_points(most), what);
  };
  if (result.max_score() + result.max_bonus() == 0) return "A single case earns no points";
  const std::string core = of(result.score(), result.max_score(), "points");
  if (result.max_bonus() == 0) return core;
  const std::string bonus = of(result.bonus(), result.max_bonus(), "bonus");
  return result.max_score() > 0 ? core + ", and " + bonus : bonus + " points";
}

std::string header_html(const GradeResult& result) {
  std::string sandbox;
  for (const std::string& layer : result.sandbox)
    sandbox += (sandbox.empty() ? "" : ", ") + escape_html(layer);
  std::string notes;
  if (const std::string missing = missing_words(result); !missing.empty()) {
    notes += "<p class=\"note\">" + escape_html(missing) + "</p>";
  }
  for (const std::string& note : total_notes(result)) {
    notes += "<p class=\"note\">" + escape_html(note) + "</p>";
  }
  return fmt::format(
      R"(<header><h1>Part {}, {}</h1>
<p class="score">{}</p>
<p class="facts">{} · times are <b>{}</b>{} · seed {} · {}{}{}{}</p>{}</header>
)",
      result.part, escape_html(result.title), score_html(result), escape_html(result.device_name),
      escape_html(result.time_kind), escape_html(peaks_words(result)), text_of(result.seed),
      escape_html(result.submission), sandbox.empty() ? "" : " · sandbox: " + sandbox,
      result.course.empty() ? "" : " · course: " + escape_html(result.course),
      result.checkout.empty() ? "" : " · checkout: " + escape_html(result.checkout), notes);
}

/// "step 3 of 6" of a task that is one.
std::string step_html(const GradeResult& result, const TaskResult& task) {
  for (const Ladder& ladder : result.ladders) {
    if (const std::size_t step = step_number(ladder, task.id); step > 0) {
      return fmt::format(R"( <small class="step" title="{}">step {} of {}</small>)",
                         escape_html(ladder.title), step, ladder.steps.size());
    }
  }
  return "";
}

std::string task_row(const GradeResult& result, const TaskResult& task, const HtmlPlace& place) {
  const bool earns = task.max_score > 0;  // a case alone does not
  const std::string bar =
      earns ? fmt::format(R"(<span class="bar"><i style="width:{:.0f}%"></i></span> )",
                          100 * task.score / task.max_score)
            : std::string();
  std::string time, efficiency;
  if (!task.timings.empty()) {
    time = escape_html(format_time(task.timings.front())) + format_spread(task.timings.front());
    if (task.timings.front().sampled) time += " <small>sampled</small>";
    efficiency = fmt::format("{} of roofline", format_efficiency(task.timings.front()));
    if (task.timings.front().target_efficiency > 0) {
      efficiency += fmt::format(" (full marks at {})",
                                format_percent(task.timings.front().target_efficiency));
    }
  }
  const std::string name = name_of(task.verdict);
  return fmt::format(
      R"(<tr><td><a href="#{8}{0}">{0}</a>{1}</td><td><span class="verdict {2}">{3}</span></td>)"
      R"(<td class="points">{4}{5}</td><td class="time">{6}</td><td class="time">{7}</td></tr>)"
      "\n",
      escape_html(task.id), step_html(result, task) + (task.bonus ? " <small>bonus</small>" : ""),
      name, outcome_words(task), bar, earns ? points_words(task) : "no points", time, efficiency,
      escape_html(place.id_prefix));
}

std::string table_html(const GradeResult& result, const HtmlPlace& place) {
  std::string rows;
  for (const TaskResult& task : result.tasks) rows += task_row(result, task, place);
  return "<section>" + html_heading(place.heading_level, "Tasks") +
         "<div class=\"wide\"><table><thead><tr><th>task</th><th>verdict</th><th>points</th>"
         "<th>time</th><th>efficiency</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div></section>\n";
}

/// The points that a figure of a timed case earns, in small print; empty where there are none.
/// @param full what all of them would take
std::string points_html(double points, double max_points, const std::string& full) {
  if (max_points == 0) return "";
  const bool missed = points < max_points;
  return fmt::format("<small{}>{} of {} {}{}</small>", missed ? " class=\"missed\"" : "",
                     format_points(points), format_points(max_points),
                     max_points == 1 ? "point" : "points",
                     missed && !full.empty() ? ", all at " + full : "");
}

/// One figure of a timed case: what it is, what it was, and what stands behind it in small print.
/// On a phone, where a row is a card, the name stands beside the figure.
std::string cell_html(const char* name, const std::string& figure,
                      const std::vector<std::string>& details, const std::string& points = "") {
  std::string small;
  for (const std::string& detail : details) {
    if (!detail.empty()) small += fmt::format("<small>{}</small>", escape_html(detail));
  }
  return fmt::format(R"(<td data-name="{}"><span>{}{}{}</span></td>)", name, figure, small, points);
}

/// Of a device that keeps no records.
std::string uncounted_cell(const char* name, const Counted& counted) {
  return cell_html(name, "not counted", {counted.max_points > 0 ? "points by the time" : ""},
                   points_html(counted.points, counted.max_points, ""));
}

std::string launches_cell(const Timing& timing) {
  const Counted& launches = timing.launches;
  if (!launches.count) return uncounted_cell("launches", launches);
  const std::string kernels =
      fmt::format("{} kernel{}", timing.kernels, timing.kernels == 1 ? "" : "s");
  return cell_html(
      "launches", fmt::format("{:.0f}", *launches.count), {kernels},
      points_html(launches.points, launches.max_points, fmt::format("{:.0f}", launches.full)));
}

std::string traffic_cell(const Timing& timing) {
  const Counted& bytes = timing.dram_bytes;
  if (!bytes.count) return uncounted_cell("DRAM traffic", bytes);
  const std::string full =
      bytes.full > 0 ? fmt::format("{:.2f}x", bytes.full / timing.bytes) : std::string();
  return cell_html("DRAM traffic", format_bytes(*bytes.count), {format_traffic(timing)},
                   points_html(bytes.points, bytes.max_points, full));
}

std::string memory_cell(const Timing& timing) {
  if (!timing.peak_memory) return cell_html("memory", "not shown", {});
  return cell_html("memory", format_bytes(static_cast<double>(*timing.peak_memory)),
                   {"beside the tensors"});
}

std::string timing_row(const Timing& timing, bool counts, bool memory) {
  std::string row =
      cell_html("time", escape_html(format_time(timing)) + format_spread(timing),
                {timing.sampled ? "sampled" : "",
                 fmt::format("roofline {}, {}", format_time_us(timing.roofline_us), timing.bound)});
  row += cell_html(
      "efficiency", format_efficiency(timing), {},
      points_html(timing.points, timing.max_points, format_percent(timing.target_efficiency)));
  row += cell_html("achieved", format_rate(timing), {});
  if (counts) row += launches_cell(timing) + traffic_cell(timing);
  if (memory) row += memory_cell(timing);
  return fmt::format("<tr><th scope=\"row\">{}</th>{}</tr>\n", escape_html(timing.name), row);
}

/// All timed cases of a task that has more to say than the table of tasks.
std::string timings_html(const std::vector<Timing>& timings, int heading_level) {
  const auto has_counts = [](const Timing& timing) {
    return timing.launches.count || timing.launches.max_points + timing.dram_bytes.max_points > 0;
  };
  const auto has_memory = [](const Timing& timing) { return timing.peak_memory.has_value(); };
  const bool counts = std::any_of(timings.begin(), timings.end(), has_counts);
  const bool memory = std::any_of(timings.begin(), timings.end(), has_memory);
  if (timings.size() < 2 && !counts && !memory) return {};
  std::string rows;
  for (const Timing& timing : timings) rows += timing_row(timing, counts, memory);
  return html_heading(heading_level, "Timed cases") +
         fmt::format(
             "<table class=\"timings\"><thead><tr><th>case</th><th>time</th>"
             "<th>efficiency</th><th>achieved</th>{}{}</tr></thead><tbody>\n{}</tbody></table>\n",
             counts ? "<th>launches</th><th>DRAM traffic</th>" : "",
             memory ? "<th>memory</th>" : "", rows);
}

/// How each of the timed cases was measured; nothing of modelled ones.
std::string measured_html(const std::vector<Timing>& timings) {
  std::string html;
  for (const Timing& timing : timings) {
    const std::string words = format_measured(timing);
    if (words.empty()) continue;
    html += fmt::format("<p class=\"measured\">{}: {}</p>\n", escape_html(timing.name),
                        escape_html(words));
  }
  return html;
}

/// Charts that the trusted side drew from what the student's code returned. Of an SVG file, what
/// comes before its root element has no place inside a page.
std::string artifacts_html(const std::map<std::string, std::string>& artifacts) {
  std::string html;
  for (const auto& [name, text] : artifacts) {
    const std::size_t root = text.find("<svg");
    if (!name.ends_with(".svg") || root == std::string::npos) continue;
    html +=
        fmt::format("<figure><div class=\"wide\">{}</div><figcaption>{}</figcaption></figure>\n",
                    text.substr(root), escape_html(name));
  }
  return html;
}

/// The four things that an advice has to say, each in a line of its own.
std::string limit_html(const Timing& timing) {
  const Limit& limit = timing.limit;
  if (limit.what.empty()) return {};
  const auto row = [](const char* name, const std::string& text) {
    return fmt::format("<dt>{}</dt><dd>{}</dd>", name, text);
  };
  const double share = timing.time_us > 0 ? limit.cost_us / timing.time_us : 0;
  std::string html = row(
      "cost", fmt::format("{} of {} ({}){}", format_time_us(limit.cost_us),
                          format_time_us(timing.time_us), format_percent(share),
                          limit.kernel.empty()
                              ? ""
                              : fmt::format(", in <code>{}</code>", escape_html(limit.kernel))));
  if (limit.counter_value != 0) {  // the kernels of a library are not counted
    html +=
        row("proof", fmt::format("{}: <code>{}</code> = {}", escape_html(limit.proof),
                                 escape_html(limit.counter), format_count(limit.counter_value)));
  }
  if (!is_worth_changing(limit, timing.time_us) && limit.least) {
    const bool has_full_marks = timing.efficiency >= timing.target_efficiency;
    html += row("change", has_full_marks
                              ? "there is nothing to gain here: this is all that the case asks for"
                              : "of this, none: it is all that the case asks for; look at what the "
                                "call does beside it");
    return "<dl class=\"limit\">" + html + "</dl>\n";
  }
  html += row("change", escape_html(limit.change));
  const std::string next = limit.next.empty() ? "something else" : escape_html(limit.next);
  if (is_worth_changing(limit, timing.time_us)) {
    html += row("without it",
                fmt::format("{} (modelled){}", format_time_us(limit.without_us),
                            limit.next.empty() ? "" : fmt::format(", then {} limits", next)));
  } else {
    html += row("without it", next + " would limit as much (modelled)");
  }
  return "<dl class=\"limit\">" + html + "</dl>\n";
}

std::string breakdown_html(const Timing& timing, int heading_level) {
  if (timing.terms.empty()) return {};
  std::vector<std::pair<std::string, double>> terms(timing.terms.begin(), timing.terms.end());
  std::sort(terms.begin(), terms.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  const double largest = std::max(terms.front().second, 1e-12);
  std::string rows;
  for (const auto& [name, us] : terms) {
    if (us < 1e-3 * largest) continue;
    rows += fmt::format(
        R"(<div class="latency"><span>{}</span><span class="track"><i class="{}" style="width:{:.1f}%"></i></span><span>{}</span></div>)"
        "\n",
        escape_html(limiter_words(name)) + (name == timing.limiter ? " <b>(limits it)</b>" : ""),
        name == timing.limiter ? "limiter" : "time", 100 * us / largest, format_time_us(us));
  }
  const std::string limiter =
      timing.limit.what.empty() ? limiter_words(timing.limiter) : timing.limit.what;
  return html_heading(heading_level, "What limits it: " + escape_html(limiter)) + rows +
         limit_html(timing);
}

/// What was asked for to get here, and what changed by it.
std::string progress_html(const TaskResult& task) {
  std::string html;
  if (task.since_last_run) {
    const SinceLastRun& since = *task.since_last_run;
    html += fmt::format("<p class=\"since\"><b>Since the last run:</b> {}</p>\n",
                        escape_html(words_of(since, task, 0)));
    std::string rows;
    for (const CounterChange& change : since.counters) {
      rows += fmt::format("<li>{} {} → {} {}: {}</li>", escape_html(change.name),
                          escape_html(change.before), escape_html(change.after),
                          escape_html(change.unit), escape_html(change.meaning));
    }
    if (!rows.empty()) html += "<ul class=\"since\">" + rows + "</ul>\n";
  }
  const std::string hints = format_hints(task);
  if (!hints.empty()) html += "<p class=\"note\">" + escape_html(hints) + "</p>\n";
  return html;
}

/// A source line, its underline, and what happens there on a line of its own: beside a long
/// underline it would stand outside of a phone.
std::string label_html(const Label& label) {
  const std::uint32_t indent = label.column > 0 ? label.column - 1 : 0;
  return fmt::format(
      "<span class=\"number\">{:>5}</span> {}\n      {:{}}<span class=\"mark\">{}</span>\n"
      "      {:{}}<span class=\"mark\">{}</span>\n",
      label.line, escape_html(label.excerpt), "", indent,
      std::string(std::max<std::uint32_t>(1, label.length), '^'), "", indent,
      escape_html(label.text));
}

std::string story_html(const Diagnostic& story) {
  std::string html = fmt::format(R"(<div class="story"><p><b class="code">{}</b> {}</p>)",
                                 story.code.text(), escape_html(story.message));
  if (!story.file.empty()) {
    html += fmt::format("<p class=\"place\">{}{}{}</p>", escape_html(story.file),
                        story.line > 0 ? fmt::format(":{}", story.line) : "",
                        story.context.empty() ? "" : ", " + escape_html(story.context));
  }
  if (const std::string groups = format_groups(story); !groups.empty()) {
    html += "<p class=\"note\">" + escape_html(groups) + "</p>";
  }
  std::string source;
  for (const Label& label : story.labels) {
    source += label_html(label);
  }
  if (!source.empty()) html += "<pre>" + source + "</pre>";
  std::string evidence;
  for (const std::string& line : story.evidence) evidence += escape_html(line) + "\n";
  if (!evidence.empty()) html += "<pre>" + evidence + "</pre>";
  if (!story.pattern.empty()) {
    html += "<p class=\"note\">pattern (. right, x wrong)</p><pre class=\"pattern\">";
    for (const std::string& row : story.pattern) html += escape_html(row) + "\n";
    html += "</pre>";
  }
  for (const std::string& note : story.notes)
    html += "<p class=\"note\">" + escape_html(note) + "</p>";
  if (!story.help.empty()) html += "<p class=\"help\">" + escape_html(story.help) + "</p>";
  for (const auto& [label, command] : story.commands) {
    html += fmt::format("<p class=\"command\">{}: <code>{}</code></p>", escape_html(label),
                        escape_html(command));
  }
  return html + "</div>\n";
}

std::string counters_html(const TaskResult& task) {
  if (task.counters.empty()) return {};
  std::string rows;
  for (const auto& [name, value] : task.counters) {
    rows += fmt::format("<tr><td><code>{}</code></td><td class=\"number\">{:.10g}</td></tr>\n",
                        escape_html(name), value);
  }
  return "<details><summary>Counters of the first timed call</summary><div class=\"wide\"><table>" +
         rows + "</table></div></details>\n";
}

/// Whether its groups are questions, of which each is a case by itself.
bool asks_questions(const TaskResult& task) {
  return !task.cases.empty() && std::ranges::all_of(task.cases, [](const CaseResult& one) {
    return one.name == one.group;
  });
}

/// What is asked, where nobody says yet whether an answer is right.
std::string questions_html(const TaskResult& task) {
  std::string rows;
  for (const GroupResult& group : task.groups) {
    rows +=
        fmt::format("<tr><td>{} <small>{}</small></td><td>{}</td></tr>\n", escape_html(group.name),
                    escape_html(group.title), group.verdict == Verdict::pass ? "answered" : "open");
  }
  return "<div class=\"wide\"><table class=\"groups\"><thead><tr><th>question</th><th>answer</th>"
         "</tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

/// What each group of cases earns; nothing where a task has only one.
std::string groups_html(const TaskResult& task) {
  if (task.groups.size() < 2) return {};
  if (task.graded_later > 0) return asks_questions(task) ? questions_html(task) : std::string();
  std::string rows;
  for (const GroupResult& group : task.groups) {
    const std::string name = name_of(group.verdict);
    rows += fmt::format(
        R"(<tr><td>{}{}</td><td><span class="verdict {}">{}</span></td><td class="points">{}/{}</td></tr>)"
        "\n",
        escape_html(group.name),
        group.title.empty() ? "" : " <small>" + escape_html(group.title) + "</small>", name,
        words_of(name), format_points(group.score), format_points(group.max_score));
  }
  return fmt::format(
             "<div class=\"wide\"><table class=\"groups\"><thead><tr><th>{}</th><th>verdict</th>"
             "<th>points</th></tr></thead><tbody>\n",
             asks_questions(task) ? "question" : "group of cases") +
         rows + "</tbody></table></div>\n";
}

/// Its first line says what is next, the others where and how.
std::string next_html(const std::string& next) {
  if (next.empty()) return {};
  const std::size_t end = next.find('\n');
  std::string html =
      "<section class=\"next\" id=\"next\"><p><b>" + escape_html(next.substr(0, end)) + "</b></p>";
  if (end != std::string::npos && end + 1 < next.size()) {
    html += "<pre>" + escape_html(next.substr(end + 1)) + "</pre>";
  }
  return html + "</section>\n";
}

/// What a case came to, by a sign and in words.
std::string case_html(const TaskResult& task, const CaseResult& one, const std::string& name) {
  const bool is_judged = task.graded_later == 0;
  std::string words = name;
  if (!is_judged) {
    words += one.verdict == Verdict::pass ? ": answered" : ": open";
  } else if (one.verdict != Verdict::pass) {
    words += ": " + verdict_words(one.verdict);
  }
  if (one.peak_memory) {
    words += fmt::format(", {} of memory", format_bytes(static_cast<double>(*one.peak_memory)));
  }
  return fmt::format("<span class=\"verdict {}\">{}{}</span> ", name_of(one.verdict),
                     is_judged ? std::string(verdict_sign(one.verdict)) + " " : "", words);
}

std::string task_html(const TaskResult& task, const HtmlPlace& place) {
  std::string html =
      fmt::format("<section id=\"{}{}\">", escape_html(place.id_prefix), escape_html(task.id)) +
      html_heading(place.heading_level + 1, escape_html(task.id + ": " + task.title)) + "\n";
  html += groups_html(task);
  std::string cases;
  int hidden = 0;
  for (const CaseResult& one : task.cases) {
    // Students read this page, and the name of a hidden case says what it tests.
    const std::string name =
        one.hidden ? fmt::format("hidden case {}", ++hidden) : escape_html(one.name);
    cases += case_html(task, one, name);
  }
  if (!cases.empty()) html += "<p class=\"cases\">" + cases + "</p>\n";
  html += progress_html(task);
  if (task.work_log) html += work_log_html(*task.work_log);
  if (task.tests) html += tests_table_html(*task.tests);
  for (const Diagnostic& story : task.diagnostics) html += story_html(story);
  const int details_level = place.heading_level + 2;
  html += timings_html(task.timings, details_level) + measured_html(task.timings) +
          artifacts_html(task.artifacts);
  if (!task.timings.empty()) {
    html += breakdown_html(task.timings.front(), details_level) +
            source_page_html(task.timings.front().costs, details_level);
  }
  html += counters_html(task);
  if (!task.printed.empty()) {
    html += "<details><summary>What the code printed</summary><pre>" + escape_html(task.printed) +
            "</pre></details>\n";
  }
  return html + "</section>\n";
}

}  // namespace

std::string to_html_body(const GradeResult& result, const gpu_spec::GpuSpec& gpu,
                         const HtmlPlace& place) {
  std::string html = table_html(result, place) +
                     roofline_section(result, gpu, place.heading_level) +
                     latency_section(result, place.heading_level);
  for (const TaskResult& task : result.tasks) html += task_html(task, place);
  return html;
}

std::string to_html(const GradeResult& result, const gpu_spec::GpuSpec& gpu,
                    const std::string& next) {
  const std::string points = result.max_score() > 0
                                 ? fmt::format(": {} of {}", format_points(result.score()),
                                               format_points(result.max_score()))
                                 : std::string();
  return html_page(fmt::format("Part {}{}", result.part, points),
                   header_html(result) + next_html(next) + to_html_body(result, gpu, {}),
                   kSourcePageStyle);
}

}  // namespace rooflab

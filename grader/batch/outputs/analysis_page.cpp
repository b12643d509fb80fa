#include "grader/batch/outputs/analysis_page.h"

#include <fmt/format.h>

#include "grader/batch/outputs/class_page_parts.h"
#include "grader/batch/outputs/count_bar.h"
#include "grader/batch/outputs/page_style.h"
#include "grader/report/html_page.h"
#include "grader/report/text.h"

namespace rooflab {

const char* const kAnalysisStyle = R"css(
.analysis td small,.analysis th small{color:var(--soft)}.analysis td p{margin:.1rem 0}
.analysis td{overflow-wrap:break-word}.analysis .share{white-space:nowrap}.analysis tbody th{min-width:8rem;overflow-wrap:break-word}
.analysis .hidden{color:var(--todo);border:1px solid currentColor;border-radius:.3rem;padding:0 .3rem;font-size:.8rem;font-weight:600}
@media (max-width:40rem){.analysis thead{display:none}
.analysis tr{display:block;border:1px solid var(--line);border-radius:.5rem;padding:.3rem .8rem;margin:.5rem 0}
.analysis tbody th,.analysis td,.analysis td:last-child{display:block;border:0;padding:.15rem 0}
.analysis td[data-name]::before{content:attr(data-name) ": ";color:var(--soft)}
.analysis td:empty{display:none}.analysis td p{display:inline}.analysis td p+p::before{content:" · "}}
)css";

std::string analysis_page(const ClassResults& results, const ClassAnalysis& analysis,
                          const OutputOptions& options) {
  const std::string title = one_line(options.assignment) + ": what the class understood";
  const SubmissionLink link = [&](SubmissionIndex submission, int /*part*/) {
    return student_link(results.students.at(submission).student);
  };
  std::string links = "<a href=\"class.html\">The class</a>";
  std::string parts;
  for (const PartAnalysis& part : analysis.parts) {
    links += fmt::format("<a href=\"#part{0}\">Part {0}</a>", part.number);
    parts += fmt::format("<section class=\"part analysis\" id=\"part{0}\"><h2>Part {0}, {1}</h2>\n",
                         part.number, escape_html(one_line(part.title))) +
             part_analysis_html(part, options.code_titles, link) + "</section>\n";
  }
  return html_page(
      title,
      fmt::format("<header><h1>{}</h1>\n<p class=\"private\">This page names students and hidden "
                  "cases: it is for instructors, not for students.</p></header>\n",
                  escape_html(title)) +
          "<nav aria-label=\"Contents\">" + links + "</nav>\n" + bar_legend() + parts,
      std::string(kPageStyle) + kBarStyle + kAnalysisStyle);
}

}  // namespace rooflab

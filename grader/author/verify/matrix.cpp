#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "grader/author/verify/report.h"

namespace rooflab::verify {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kGap = 2;

/// All claims of one kind about one part on one GPU, summed up.
std::string cell_of(const std::vector<const Outcome*>& outcomes, Proof proof) {
  // Each of many submissions is a claim of its own.
  const bool counts_claims = proof == Proof::mistakes || proof == Proof::right;
  std::size_t proved = 0;
  std::size_t failed = 0;
  std::size_t faults = 0;
  double margin = std::numeric_limits<double>::infinity();
  for (const Outcome* outcome : outcomes) {
    if (!outcome->applicable) continue;
    (outcome->proved() ? proved : failed) += 1;
    faults += outcome->fault ? 1 : 0;
    margin = std::min(margin, outcome->margin.value_or(margin));
  }
  if (outcomes.empty()) return "-";
  if (proved + failed == 0) return "n/a";
  if (faults > 0) return fmt::format("FAULT {}", faults);
  if (failed > 0) {
    std::size_t stories = 0;  // one claim about a whole part may fail in several tasks
    for (const Outcome* outcome : outcomes) stories += outcome->failures.size();
    return fmt::format("FAILED {}", counts_claims ? failed : stories);
  }
  if (counts_claims) return fmt::format("{}/{}", proved, proved);
  // Cut, not rounded: 1.249 is not 1.25.
  if (margin < std::numeric_limits<double>::infinity()) {
    return fmt::format("ok {:.2f}x", static_cast<double>(static_cast<long>(margin * 100)) / 100);
  }
  return "ok";
}

/// One column of the matrix: a proof on a GPU.
struct Column {
  Proof proof;
  std::string gpu;
  std::vector<std::string> cells = {};  ///< by part
  std::size_t width = 0;
};

std::vector<const Outcome*> outcomes_of(const Report& report, Proof proof, int part,
                                        const std::string& gpu) {
  std::vector<const Outcome*> outcomes;
  for (const auto& [claim, outcome] : report.results) {
    if (claim.proof == proof && claim.part == part && claim.gpu == gpu)
      outcomes.push_back(&outcome);
  }
  return outcomes;
}

/// The name of the proof fits over its columns, the last `count`.
void widen_for_name(std::vector<Column>& columns, std::size_t count) {
  std::size_t width = (count - 1) * kGap;
  for (std::size_t i = columns.size() - count; i < columns.size(); ++i) width += columns[i].width;
  const std::size_t name = std::string_view(name_of(columns.back().proof)).size();
  if (width < name) columns.back().width += name - width;
}

std::vector<Column> columns_of(const Report& report) {
  std::vector<Column> columns;
  for (const Proof proof : kProofs) {
    const bool asked = std::ranges::any_of(report.results, [&](const Result& result) {
      return result.claim.proof == proof && result.claim.part.has_value();
    });
    if (!asked) continue;
    for (const std::string& gpu : report.gpus) {
      Column column{.proof = proof, .gpu = gpu, .width = gpu.size()};
      for (const auto& [part, title] : report.parts) {
        column.cells.push_back(cell_of(outcomes_of(report, proof, part, gpu), proof));
        column.width = std::max(column.width, column.cells.back().size());
      }
      columns.push_back(std::move(column));
    }
    widen_for_name(columns, report.gpus.size());
  }
  return columns;
}

std::vector<std::string> names_of_parts(const Report& report) {
  std::vector<std::string> names;
  for (const auto& [number, title] : report.parts) {
    names.push_back(fmt::format("Part {}, {}", number, title));
  }
  return names;
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// One table; where the name of a proof stands over several columns, it stands over the first.
std::string table(const std::vector<std::string>& names, std::size_t name_width,
                  const std::vector<const Column*>& columns) {
  std::string proofs(name_width, ' ');
  std::string gpus(name_width, ' ');
  std::vector<std::string> rows;
  for (const std::string& name : names) rows.push_back(fmt::format("{:<{}}", name, name_width));
  const Column* before = nullptr;
  for (const Column* column : columns) {
    const std::size_t start = gpus.size() + kGap;
    if (before == nullptr || before->proof != column->proof) {
      proofs = fmt::format("{:<{}}{}", proofs, start, name_of(column->proof));
    }
    before = column;
    gpus = fmt::format("{:<{}}{:<{}}", gpus, start, column->gpu, column->width);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i] = fmt::format("{:<{}}{:<{}}", rows[i], start, column->cells[i], column->width);
    }
  }
  std::string text = without_trailing_spaces(proofs) + without_trailing_spaces(gpus);
  for (const std::string& row : rows) text += without_trailing_spaces(row);
  return text;
}

/// As many columns to a table as fit; a course may name many GPUs.
std::string tables(const Report& report) {
  const auto names = names_of_parts(report);
  std::size_t name_width = 0;
  for (const std::string& name : names) name_width = std::max(name_width, name.size());
  const auto columns = columns_of(report);
  std::string text;
  std::vector<const Column*> fitting;
  std::size_t width = name_width;
  for (const Column& column : columns) {
    if (!fitting.empty() && width + kGap + column.width > kWidth) {
      text += table(names, name_width, fitting) + "\n";
      fitting.clear();
      width = name_width;
    }
    fitting.push_back(&column);
    width += kGap + column.width;
  }
  return fitting.empty() ? text : text + table(names, name_width, fitting);
}

/// What is about no part: a line each.
std::string course_rows(const Report& report) {
  std::string text;
  for (const auto& [claim, outcome] : report.results) {
    if (claim.part) continue;
    const std::string name = claim.name.empty()
                                 ? name_of(claim.proof)
                                 : fmt::format("{}: {}", name_of(claim.proof), claim.name);
    text += fmt::format("Course, {:<24}{}\n", name, cell_of({&outcome}, claim.proof));
  }
  return text;
}

/// "Not applicable: gemm_wmma of part 1 on t4".
std::string not_applicable_rows(const Report& report) {
  std::set<std::string> rows;
  for (const auto& [claim, outcome] : report.results) {
    for (const std::string& task : outcome.not_applicable) {
      rows.insert(fmt::format("Not applicable: {} of part {} on {}\n", task, claim.part.value(),
                              claim.gpu));
    }
  }
  std::string text;
  for (const std::string& row : rows) text += row;
  return text;
}

std::string confusion_row(const Confusion& confusion, const std::string& what,
                          const std::string& gpu) {
  const std::size_t all =
      confusion.recognised + confusion.unrecognised + confusion.wrongly_recognised;
  if (all == 0) return {};
  return fmt::format("{:<10}{:<18}{:>5}{:>12}{:>14}{:>20}\n", what, gpu, all, confusion.recognised,
                     confusion.unrecognised, confusion.wrongly_recognised);
}

/// By the first diagnostic of each planted mistake.
std::string confusion_rows(const Report& report) {
  std::string rows;
  for (const bool held_out : {false, true}) {
    for (const std::string& gpu : report.gpus) {
      rows += confusion_row(confusion_of(report, gpu, held_out), held_out ? "held out" : "planted",
                            gpu);
    }
  }
  if (rows.empty()) return {};
  return fmt::format("{:<28}{:>5}{:>12}{:>14}{:>20}\n", "Mistakes", "all", "recognised",
                     "unrecognised", "wrongly recognised") +
         rows;
}

std::string last_line(const Report& report) {
  std::size_t failed = 0;
  std::size_t not_applicable = 0;
  for (const Result& result : report.results) {
    failed += result.outcome.proved() ? 0 : 1;
    not_applicable += result.outcome.applicable ? 0 : 1;
  }
  const std::size_t all = report.results.size() - not_applicable;
  std::string text = fmt::format("{} of {} proofs hold", all - failed, all);
  if (failed > 0) text += fmt::format(", {} FAILED", failed);
  if (not_applicable > 0) text += fmt::format(", {} not applicable", not_applicable);
  const auto seconds = std::lround(report.seconds);
  return fmt::format("{} · {} min {:02} s\n", text, seconds / 60, seconds % 60);
}

}  // namespace

std::string matrix_text(const Report& report) {
  std::string text;
  for (const std::string& block :
       {tables(report), course_rows(report), not_applicable_rows(report), confusion_rows(report)}) {
    if (!block.empty()) text += block + "\n";
  }
  return text + last_line(report);
}

}  // namespace rooflab::verify

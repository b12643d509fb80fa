#include "grader/spec/read_draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "grader/spec/pattern.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

constexpr std::size_t kMostValues = 10'000;

std::optional<double> finite_number(const toml::node& node) {
  const auto value = node.value<double>();
  const bool is_number = node.is_integer() || node.is_floating_point();
  return is_number && value && std::isfinite(*value) ? value : std::nullopt;
}

/// [the page's own, another, …]
void read_list(const toml::array& list, Draw& draw) {
  for (const toml::node& node : list) {
    const auto number = finite_number(node);
    if (!number) return draw.values.clear();
    draw.values.push_back(*number);
  }
  if (!draw.values.empty()) draw.page = draw.values.front();
}

/// { page = 1700, from = 1100, to = 3900, step = 100 }
void read_range(TableReader reader, Draw& draw) {
  draw.page = reader.number("page");
  const double from = reader.number("from"), to = reader.number("to");
  const double step = reader.number("step");
  reader.finish();
  const double steps = std::floor((to - from) / step + 1e-9);
  if (!(step > 0 && steps >= 1 && steps < kMostValues && std::isfinite(draw.page))) return;
  for (double i = 0; i <= steps; ++i) {
    // 24.8 + 3 * 0.4 is 26, not 26.000000000000004.
    draw.values.push_back(std::stod(fmt::format("{:.10g}", from + i * step)));
  }
}

const Draw* shared_draw(const std::vector<QuestionSpec>& earlier, const std::string& question,
                        const std::string& name) {
  const auto owner = std::ranges::find(earlier, question, &QuestionSpec::id);
  if (owner == earlier.end()) return nullptr;
  const auto draw = std::ranges::find(owner->draws, name, &Draw::name);
  return draw == owner->draws.end() ? nullptr : &*draw;
}

/// Each "{name}" of a text.
std::set<std::string> places_in(const std::string& text) {
  static const Pattern place(R"(\{([a-z][a-z0-9_]*)\})");
  std::set<std::string> names;
  for (const Pattern::Match& match : place.all(text)) names.insert(match.groups[1]);
  return names;
}

/// What a prompt names is drawn, and what its question draws by itself is named there.
void check_prompt(const TableReader& reader, const QuestionSpec& question) {
  const std::set<std::string> places = places_in(question.prompt);
  for (const std::string& name : places) {
    if (std::ranges::find(question.draws, name, &Draw::name) != question.draws.end()) continue;
    throw reader.error(
        "draws",
        fmt::format("the prompt of \"{}\" has {{{}}}, which it does not draw", question.id, name),
        "add it to draws");
  }
  for (const Draw& draw : question.draws) {
    if (draw.question != question.id || places.contains(draw.name)) continue;
    throw reader.error(
        draw.name,
        fmt::format("the prompt of \"{}\" does not say {}, which it draws", question.id, draw.name),
        fmt::format("write {{{}}} where the number stands", draw.name));
  }
}

}  // namespace

void read_draws(const toml::table& table, const std::filesystem::path& file,
                const std::vector<QuestionSpec>& earlier, QuestionSpec& question) {
  const TableReader reader(table, file, fmt::format("draws of \"{}\"", question.id));
  if (question.kind != QuestionKind::number) {
    throw reader.error("", fmt::format("\"{}\" asks for no number, and draws some", question.id),
                       "remove draws: the key of such a question is the same for everybody");
  }
  for (const auto& [key, node] : table) {
    Draw draw{.name = std::string(key.str()), .question = question.id, .page = 0, .values = {}};
    if (!is_identifier(draw.name)) {
      throw reader.error(draw.name, fmt::format("\"{}\" is no identifier", draw.name),
                         "use lower-case letters, digits and _");
    }
    if (const auto* other = node.as_string()) {
      const Draw* shared = shared_draw(earlier, other->get(), draw.name);
      if (shared == nullptr) {
        throw reader.error(
            draw.name, fmt::format("no earlier question \"{}\" draws {}", other->get(), draw.name),
            "name a question above this one that draws a number of that name");
      }
      draw = *shared;
    } else if (const auto* list = node.as_array()) {
      read_list(*list, draw);
    } else if (const auto* range = node.as_table()) {
      read_range(TableReader(*range, file, fmt::format("range of {}", draw.name)), draw);
    }
    if (draw.values.size() < 2) {
      throw reader.error(
          draw.name, fmt::format("{} has not two numbers to draw from, or too many", draw.name),
          fmt::format("write [the page's own, others …], {{ page, from, to, step }} of at most {} "
                      "numbers, or the id of the question that draws it",
                      kMostValues));
    }
    question.draws.push_back(std::move(draw));
  }
  check_prompt(reader, question);
}

}  // namespace rooflab

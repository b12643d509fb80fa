#include "grader/spec/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "grader/spec/answers.h"
#include "grader/spec/group_hints.h"
#include "grader/spec/groups.h"
#include "grader/spec/pattern.h"
#include "grader/spec/read_draws.h"
#include "grader/spec/tested.h"
#include "grader/spec/toml_reader.h"
#include "grader/spec/work_log.h"

namespace rooflab {
namespace {

const std::map<std::string, TaskKind> kTaskKinds = {{"kernel", TaskKind::kernel},
                                                    {"values", TaskKind::values},
                                                    {"answers", TaskKind::answers},
                                                    {"worklog", TaskKind::worklog},
                                                    {"tests", TaskKind::tests}};
const std::map<std::string, QuestionKind> kQuestionKinds = {{"number", QuestionKind::number},
                                                            {"choice", QuestionKind::choice},
                                                            {"text", QuestionKind::text}};

void require_identifier(const TableReader& reader, const std::string& key,
                        const std::string& name) {
  if (!is_identifier(name)) {
    throw reader.error(key, fmt::format("`{}` \"{}\" is no identifier", key, name),
                       "use lower-case letters, digits and _");
  }
}

void require_file_name(const TableReader& reader, const std::string& key, const std::string& name) {
  const std::filesystem::path path(name);
  const bool plain = !name.empty() && path.is_relative() && path.filename() == path;
  if (!plain || name == "." || name == "..") {
    throw reader.error(key, fmt::format("`{}` \"{}\" is no plain file name", key, name),
                       "name a file in the part's own directory");
  }
}

double points(TableReader& reader, const std::string& key, double fallback) {
  const double value = reader.number_or(key, fallback);
  if (!(value >= 0 && value <= 1e6)) {
    throw reader.error(key, fmt::format("`{}` is {}", key, value), "give points from 0 to 1000000");
  }
  return value;
}

template <typename Kind>
Kind kind_of(TableReader& reader, const std::map<std::string, Kind>& kinds) {
  const std::string name = reader.text("kind");
  const auto found = kinds.find(name);
  if (found != kinds.end()) return found->second;
  std::string known;
  for (const auto& [kind, value] : kinds) known += (known.empty() ? "" : ", ") + kind;
  throw reader.error("kind", fmt::format("unknown kind \"{}\"", name), "use one of " + known);
}

/// Tensors of an oracle that does not know that they are vast would not fit this machine.
void check_vast(const TableReader& reader, const CaseSpec& spec) {
  if (spec.vast_gb < 0 || (spec.vast_gb > 0) != spec.parameters.contains("vast")) {
    throw reader.error("vast_gb", "a vast case has both `vast_gb` and the parameter `vast = 1`",
                       "give the GB of all its tensors together");
  }
  if (spec.vast_gb > 0 && (spec.sampled || spec.late_inputs || spec.shows_memory)) {
    throw reader.error("vast_gb", "a vast case is neither sampled, nor late, nor about memory",
                       "leave the other keys out");
  }
}

CaseSpec read_case(TableReader& reader) {
  CaseSpec spec;
  spec.name = reader.text("name");
  reader.name(fmt::format("case \"{}\"", spec.name));
  spec.parameters = reader.values("parameters");
  spec.expect = reader.values("expect");
  spec.sampled = reader.boolean_or("sampled", false);
  spec.shows_memory = reader.boolean_or("shows_memory", false);
  spec.late_inputs = reader.boolean_or("late_inputs", false);
  spec.vast_gb = reader.number_or("vast_gb", 0);
  spec.peak = reader.text_or("peak", "");
  spec.group = reader.text_or("group", "");
  check_vast(reader, spec);
  reader.finish();
  return spec;
}

/// What a case of this task must have, whichever file it comes from.
void check_case(const TableReader& reader, const TaskSpec& task, const CaseSpec& spec) {
  // Until the public cases are read, a task that names no groups has none.
  if (!task.groups.empty() || !spec.group.empty()) require_group(reader, "group", task, spec.group);
  if (task.kind == TaskKind::values && task.oracle.empty() && spec.expect.empty()) {
    throw reader.error("expect",
                       fmt::format("case \"{}\" of task {} says no results", spec.name, task.id),
                       "add expect = { name = number }, or name an oracle in the task");
  }
  if (spec.late_inputs && !task.stream) {
    throw reader.error("late_inputs",
                       fmt::format("the functions of task {} get no stream to wait for", task.id),
                       "set stream = true in the task, or remove late_inputs");
  }
  const auto same_name = [&](const CaseSpec& other) { return other.name == spec.name; };
  if (std::ranges::any_of(task.cases, same_name)) {
    throw reader.error("name",
                       fmt::format("task {} has two cases named \"{}\"", task.id, spec.name),
                       "rename one");
  }
}

/// Names of tensors' axes; a tensor of one axis has a list, too.
std::map<std::string, std::vector<std::string>> read_axes(const toml::table& table,
                                                          const std::filesystem::path& file) {
  TableReader reader(table, file, "axes");
  std::map<std::string, std::vector<std::string>> axes;
  for (const auto& [tensor, names] : table) {
    axes[std::string(tensor.str())] = reader.texts(std::string(tensor.str()));
  }
  return axes;
}

RatioHint read_ratio(const toml::table& table, const std::filesystem::path& file) {
  TableReader reader(table, file, "[[task.ratio]]");
  RatioHint hint{reader.text("result"), reader.number("ratio"), reader.text("cause")};
  reader.finish();
  return hint;
}

std::optional<CountTarget> read_count(TableReader& reader, const std::string& where,
                                      const std::string& key, const std::filesystem::path& file) {
  constexpr double kLeast = 1;  // launch, and times the compulsory bytes: nobody can do with less
  std::optional<CountTarget> target;
  reader.maybe(key, [&](const toml::table& inner) {
    TableReader own(inner, file, fmt::format("{}, {}", where, key));
    target = {points(own, "points", 0), own.number("full"), own.number("zero")};
    own.finish();
    if (target->points == 0) {
      throw own.error("points", fmt::format("`{}` gives no points", key),
                      fmt::format("give it points, or remove {}: it is shown in any case", key));
    }
    if (!(target->full >= kLeast && target->full < target->zero && target->zero <= 1e9)) {
      throw own.error("full", fmt::format("`{}` does not have {} <= full < zero", key, kLeast),
                      "put them in that order");
    }
  });
  return target;
}

SpeedSpec read_speed(const toml::table& table, const std::filesystem::path& file,
                     const TaskSpec& task) {
  TableReader reader(table, file, "[[task.speed]]");
  SpeedSpec speed;
  speed.name = reader.text("name");
  const std::string where = fmt::format("timed case \"{}\"", speed.name);
  reader.name(where);
  speed.points = points(reader, "points", 0);
  speed.parameters = reader.values("parameters");
  speed.peak = reader.text_or("peak", "fp32");
  speed.sampled = reader.boolean_or("sampled", false);
  speed.shows_memory = reader.boolean_or("shows_memory", false);
  speed.launches = read_count(reader, where, "launches", file);
  speed.bytes = read_count(reader, where, "bytes", file);
  speed.groups = reader.texts("groups");
  for (const std::string& group : speed.groups) require_group(reader, "groups", task, group);
  if (maximum_points(speed) == 0) {  // a time to look at, with nothing to reach
    if (reader.number_or("full_efficiency", 0) + reader.number_or("zero_efficiency", 0) != 0) {
      throw reader.error("points", "a timed case without points names efficiencies to reach",
                         "give it points, or remove zero_efficiency and full_efficiency");
    }
    reader.finish();
    return speed;
  }
  speed.zero_efficiency = reader.number("zero_efficiency");
  speed.full_efficiency = reader.number("full_efficiency");
  reader.finish();
  if (!(speed.zero_efficiency > 0 && speed.zero_efficiency < speed.full_efficiency &&
        speed.full_efficiency <= 1)) {
    throw reader.error("zero_efficiency",
                       "efficiencies are not 0 < zero_efficiency < full_efficiency <= 1",
                       "put them in that order");
  }
  return speed;
}

QuestionSpec read_question(const toml::table& table, const std::filesystem::path& file,
                           const std::vector<QuestionSpec>& earlier) {
  TableReader reader(table, file, "[[task.question]]");
  QuestionSpec question;
  question.id = reader.text("id");
  reader.name(fmt::format("question \"{}\"", question.id));
  require_identifier(reader, "id", question.id);
  question.kind = kind_of(reader, kQuestionKinds);
  question.prompt = reader.text("prompt");
  question.choices = reader.texts("choices");
  question.points = points(reader, "points", 0);
  question.bonus = reader.boolean_or("bonus", false);
  reader.maybe("draws", [&](const toml::table& draws) {
    question.pattern = question.prompt;
    read_draws(draws, file, earlier, question);
  });
  reader.finish();
  if (question.id == kStudentKey) {
    throw reader.error("id", "`student` is whose answers a file has, and no question",
                       "name the question otherwise");
  }
  if (question.bonus && question.kind != QuestionKind::text) {
    throw reader.error("bonus", fmt::format("question \"{}\" is judged by a machine", question.id),
                       "make it free text, for which people give points, or remove bonus");
  }
  if ((question.kind == QuestionKind::choice) != (question.choices.size() > 1)) {
    throw reader.error("choices",
                       fmt::format("question \"{}\" of its kind cannot have {} choices",
                                   question.id, question.choices.size()),
                       "give choices, at least two, to questions of kind choice alone");
  }
  return question;
}

/// What a machine gives for a task of questions.
double points_of_questions(const TaskSpec& task) {
  double points = 0;
  for (const QuestionSpec& question : task.questions) {
    if (question.kind != QuestionKind::text) points += question.points;
  }
  return points;
}

void check_questions(const TableReader& reader, const TaskSpec& task) {
  std::set<std::string> ids;
  for (const QuestionSpec& question : task.questions) {
    if (!ids.insert(question.id).second) {
      throw reader.error("question", fmt::format("two questions have the id \"{}\"", question.id),
                         "rename one");
    }
  }
  const double machine_points = points_of_questions(task);
  if (task.questions.empty() || std::abs(machine_points - task.points) > 1e-9) {
    throw reader.error("points",
                       fmt::format("task {} is worth {} points, its number and choice questions {}",
                                   task.id, task.points, machine_points),
                       "remove the task's points: they follow from its questions");
  }
}

/// What a work log is about stands in other tasks.
void check_work_log(const TableReader& reader, const TaskSpec& task) {
  if (task.cases.empty() && task.speeds.empty() && task.questions.empty()) return;
  throw reader.error("kind", fmt::format("the work log {} has cases or questions", task.id),
                     "remove them: it is about the timed cases of the part's kernels");
}

void check_task(const TableReader& reader, const TaskSpec& task) {
  for (const std::string& pattern : task.forbidden) {
    try {
      static_cast<void>(Pattern(pattern));
    } catch (const std::invalid_argument&) {
      throw reader.error("forbidden", fmt::format("\"{}\" is no regular expression", pattern),
                         "correct it (ECMAScript syntax)");
    }
  }
  static const std::set<std::string> known_libraries = {"cublas", "cupti", "nvrtc"};
  for (const std::string& library : task.libraries) {
    if (known_libraries.contains(library)) continue;
    throw reader.error("libraries", fmt::format("unknown library \"{}\"", library),
                       "use cublas, cupti or nvrtc");
  }
  if (task.hand_points > 0 && task.kind != TaskKind::worklog) {
    throw reader.error("hand_points",
                       "only a work log has points that are given by hand for all of it",
                       "remove it, or give them to a question of kind text");
  }
  if (task.tested.most_cases > 0 && task.kind != TaskKind::tests) {
    throw reader.error("tested", fmt::format("task {} has cases of its own", task.id),
                       "remove [task.tested], or make its kind \"tests\"");
  }
  if (task.kind == TaskKind::answers) return check_questions(reader, task);
  if (task.kind == TaskKind::worklog) return check_work_log(reader, task);
  require_identifier(reader, "entry", task.entry);
  if (task.kind == TaskKind::tests) return check_tested(reader, task);
  if (task.cases.empty()) {
    throw reader.error("case", fmt::format("task {} has no cases", task.id), "add [[task.case]]");
  }
  if (task.kind == TaskKind::kernel && task.oracle.empty()) {
    throw reader.error("oracle", fmt::format("task {} names no oracle", task.id),
                       "add oracle = \"name\" of labs/<part>/oracle");
  }
  if (!task.speeds.empty() && task.oracle.empty()) {
    throw reader.error("speed", fmt::format("task {} is timed but names no oracle", task.id),
                       "add oracle = \"name\": it counts the work");
  }
}

/// Each further file is linked once.
void check_uses(const TableReader& reader, const TaskSpec& task) {
  std::set<std::string> files = {task.file};
  for (const std::string& used : task.uses) {
    require_file_name(reader, "uses", used);
    if (files.insert(used).second) continue;
    throw reader.error("uses", fmt::format("task {} uses {} twice", task.id, used),
                       "name each further file once, and not the task's own");
  }
}

/// Without the check a misspelt name would withhold nothing.
void check_withheld(const TableReader& reader, const TaskSpec& task,
                    const std::filesystem::path& toolkit) {
  for (const std::string& name : task.withheld) {
    const std::filesystem::path inside(name);
    if (inside.is_relative() && inside.lexically_normal() == inside && !inside.empty() &&
        *inside.begin() != ".." && std::filesystem::exists(toolkit / inside)) {
      continue;
    }
    throw reader.error("withheld", fmt::format("there is no \"{}\" in labs/toolkit", name),
                       "name a header or a folder of the toolkit, such as \"timing.h\"");
  }
}

/// What the grader finds first in a starter that is wrong on purpose.
std::optional<simgpu::Code> read_starter_finds(TableReader& reader, const TaskSpec& task) {
  const std::string text = reader.text_or("starter_finds", "");
  if (text.empty()) return std::nullopt;
  if (is_text(task)) {
    throw reader.error("starter_finds", "a task without code has open answers in its starter",
                       "remove starter_finds");
  }
  const auto code = simgpu::Code::parse(text);
  if (code) return code;
  throw reader.error("starter_finds", fmt::format("there is no code {}", text),
                     "name one of docs/design/codes.md");
}

TaskSpec read_task(const toml::table& table, const std::filesystem::path& file) {
  TableReader reader(table, file, "[[task]]");
  TaskSpec task;
  task.id = reader.text("id");
  reader.name(fmt::format("task \"{}\"", task.id));
  require_identifier(reader, "id", task.id);
  task.title = reader.text("title");
  task.kind = kind_of(reader, kTaskKinds);
  task.bonus = reader.boolean_or("bonus", false);
  task.points = points(reader, "points", 0);
  task.hand_points = points(reader, "hand_points", 0);
  task.file = reader.text("file");
  require_file_name(reader, "file", task.file);
  task.uses = reader.texts("uses");
  check_uses(reader, task);
  task.entry = reader.text_or("entry", "");
  task.stream = reader.boolean_or("stream", false);
  task.oracle = reader.text_or("oracle", "");
  task.starter_finds = read_starter_finds(reader, task);
  task.forbidden = reader.texts("forbidden");
  task.withheld = reader.texts("withheld");
  check_withheld(reader, task, file.parent_path().parent_path() / "toolkit");
  task.libraries = reader.texts("libraries");
  task.hints = read_hints(reader, "hints", "task " + task.id);
  task.host_time_limit_s = reader.number_or("host_time_limit_s", 10);
  if (!(task.host_time_limit_s >= 1 && task.host_time_limit_s <= 3600)) {
    throw reader.error("host_time_limit_s", "the host's time limit is not between 1 and 3600 s",
                       "10 s are enough for code that leaves the work to the GPU");
  }
  task.time_limit_s = reader.number_or("time_limit_s", 60);
  if (!(task.time_limit_s > 0 && task.time_limit_s <= 3600)) {
    throw reader.error("time_limit_s", "the time limit is not between 0 and 3600 s",
                       "set it there");
  }
  read_groups(reader, task);
  reader.each("case", [&](const toml::table& inner) {
    TableReader case_reader(inner, file, "[[task.case]]");
    CaseSpec spec = read_case(case_reader);
    if (spec.group.empty()) spec.group = default_group(task, spec);
    check_case(case_reader, task, spec);
    task.cases.push_back(std::move(spec));
  });
  reader.each("question", [&](const toml::table& inner) {
    task.questions.push_back(read_question(inner, file, task.questions));
  });
  if (task.kind == TaskKind::answers && !reader.has("points")) {
    task.points = points_of_questions(task);
  }
  complete_groups(task);  // timed cases may name what follows from the cases
  reader.each("ratio",
              [&](const toml::table& inner) { task.ratios.push_back(read_ratio(inner, file)); });
  reader.maybe("axes", [&](const toml::table& inner) { task.axes = read_axes(inner, file); });
  reader.maybe("tested", [&](const toml::table& inner) { task.tested = read_tested(inner, file); });
  reader.each("speed", [&](const toml::table& inner) {
    SpeedSpec speed = read_speed(inner, file, task);
    if (std::ranges::find(task.speeds, speed.name, &SpeedSpec::name) != task.speeds.end()) {
      throw spec_error(file, inner,
                       fmt::format("task {} has two timed cases named \"{}\"", task.id, speed.name),
                       "rename one");
    }
    task.speeds.push_back(std::move(speed));
  });
  complete_groups(task);
  reader.finish();
  if (task.kind == TaskKind::answers) task = asked_of(task, 0, "");
  check_task(reader, task);
  check_groups(reader, task);
  return task;
}

Ladder read_ladder(const toml::table& table, const std::filesystem::path& file,
                   const std::vector<TaskSpec>& tasks) {
  TableReader reader(table, file, "[[ladder]]");
  Ladder ladder{
      .id = reader.text("id"), .title = reader.text("title"), .steps = reader.texts("steps")};
  reader.finish();
  if (ladder.steps.size() < 2) {
    throw reader.error("steps", fmt::format("ladder {} has fewer than two steps", ladder.id),
                       "name the tasks that it is made of");
  }
  // Each step is looked for behind the one before: there is one order, that of the tasks.
  auto next = tasks.begin();
  for (const std::string& step : ladder.steps) {
    const auto task =
        std::find_if(next, tasks.end(), [&](const TaskSpec& each) { return each.id == step; });
    if (task == tasks.end()) {
      throw reader.error(
          "steps", fmt::format("\"{}\" is no task of this part behind the step before it", step),
          "name tasks in the order of the part, each once");
    }
    next = std::next(task);
  }
  return ladder;
}

/// A part has one work log at most, and a kernel that it can be about.
void check_logged_kernels(const TableReader& reader, const PartSpec& part) {
  const auto logs = std::ranges::count(part.tasks, TaskKind::worklog, &TaskSpec::kind);
  if (logs == 0) return;
  if (logs > 1) {
    throw reader.error("task", "the part has two work logs",
                       "keep one: grader --log has to know where a run belongs");
  }
  if (std::ranges::any_of(part.tasks, may_be_logged)) return;
  throw reader.error("task", "the part has a work log and no kernel that is timed",
                     "add a [[task.speed]] to a kernel, or remove the work log");
}

PartSpec read_part(const std::filesystem::path& root) {
  const std::filesystem::path file = root / "part.toml";
  const toml::table table = parse_toml(file);
  TableReader reader(table, file, "part");
  PartSpec part;
  const std::int64_t number = reader.integer("number");
  if (number < 0 || number > kLastPart) {
    throw reader.error("number", fmt::format("part number {} is out of range", number),
                       fmt::format("use 0 to {}", kLastPart));
  }
  part.number = static_cast<int>(number);
  part.title = reader.text("title");
  part.root = root;
  part.directory = root.filename().string();
  part.headers = reader.texts("headers");
  for (const std::string& header : part.headers) require_file_name(reader, "headers", header);
  std::set<std::string> ids;
  reader.each("task", [&](const toml::table& inner) {
    TaskSpec task = read_task(inner, file);
    if (!ids.insert(task.id).second) {
      throw spec_error(file, inner, fmt::format("two tasks have the id \"{}\"", task.id),
                       "rename one");
    }
    part.tasks.push_back(std::move(task));
  });
  reader.each("ladder", [&](const toml::table& inner) {
    part.ladders.push_back(read_ladder(inner, file, part.tasks));
  });
  reader.finish();
  if (part.tasks.empty()) throw reader.error("task", "the part has no tasks", "add [[task]]");
  check_logged_kernels(reader, part);
  return part;
}

void add_hidden_cases(PartSpec& part, const std::filesystem::path& file) {
  const toml::table table = parse_toml(file);
  TableReader reader(table, file, "hidden cases");
  reader.each("case", [&](const toml::table& inner) {
    TableReader case_reader(inner, file, "[[case]]");
    const std::string id = case_reader.text("task");
    CaseSpec spec = read_case(case_reader);
    const auto task = std::ranges::find(part.tasks, id, &TaskSpec::id);
    if (task == part.tasks.end() || is_text(*task) || task->kind == TaskKind::tests) {
      throw case_reader.error("task", fmt::format("no task \"{}\" of this part has cases", id),
                              "name one of part.toml");
    }
    if (spec.group.empty()) spec.group = default_group(*task, spec);
    check_case(case_reader, *task, spec);
    if (spec.shows_memory) {
      throw case_reader.error("shows_memory", "a hidden case's memory would tell its sizes",
                              "remove shows_memory");
    }
    spec.hidden = true;
    task->cases.push_back(std::move(spec));
  });
  reader.finish();
}

/// Of a kit, which has no hidden cases but says how many there are.
void add_hidden_counts(PartSpec& part, const std::filesystem::path& file) {
  const toml::table table = parse_toml(file);
  TableReader reader(table, file, "counts of hidden cases");
  for (TaskSpec& task : part.tasks) {
    const std::int64_t count = reader.maybe_integer(task.id).value_or(0);
    if (count < 0 || count > 1'000'000) {
      throw reader.error(task.id, "this is no number of cases", "unpack the kit once more");
    }
    task.hidden_elsewhere = static_cast<int>(count);
  }
  reader.finish();
}

}  // namespace

PartSpec read_part_folder(const std::filesystem::path& folder,
                          const std::filesystem::path& solutions) {
  PartSpec part = read_part(folder);
  add_targets(load_targets(part.root / kTargetsFile), part);
  add_group_hints(part.root / kHintsFile, part);
  const std::filesystem::path hidden = solutions / part.directory / "hidden.toml";
  const std::filesystem::path counts = part.root / kHiddenCounts;
  if (std::filesystem::exists(hidden)) {
    add_hidden_cases(part, hidden);
  } else if (std::filesystem::exists(counts)) {
    add_hidden_counts(part, counts);
  }
  return part;
}

}  // namespace rooflab

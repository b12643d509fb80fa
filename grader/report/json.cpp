#include "grader/report/json.h"

#include <nlohmann/json.hpp>

#include "grader/report/line_json.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

using Json = nlohmann::ordered_json;

Json label_json(const Label& label) {
  return {{"file", sanitize(label.file)},
          {"line", label.line},
          {"column", label.column},
          {"length", label.length},
          {"excerpt", sanitize(label.excerpt)},
          {"text", sanitize(label.text)}};
}

Json lines_json(const std::vector<std::string>& lines) {
  Json array = Json::array();
  for (const std::string& line : lines) array.push_back(sanitize(line));
  return array;
}

Json diagnostic_json(const Diagnostic& diagnostic) {
  Json labels = Json::array();
  for (const Label& label : diagnostic.labels) labels.push_back(label_json(label));
  Json commands = Json::object();
  for (const auto& [name, command] : diagnostic.commands) commands[name] = sanitize(command);
  return {{"code", diagnostic.code.text()},
          {"message", sanitize(diagnostic.message)},
          {"file", sanitize(diagnostic.file)},
          {"line", diagnostic.line},
          {"context", sanitize(diagnostic.context)},
          {"groups", lines_json(diagnostic.groups)},
          {"labels", std::move(labels)},
          {"evidence", lines_json(diagnostic.evidence)},
          {"pattern", lines_json(diagnostic.pattern)},
          {"notes", lines_json(diagnostic.notes)},
          {"help", sanitize(diagnostic.help)},
          {"commands", std::move(commands)}};
}

/// Empty where nothing was counted and nothing is earned by it.
/// @param name of the count: "count", "bytes"
Json counted_json(const Counted& counted, const char* name) {
  if (!counted.count && counted.max_points == 0) return {};
  Json json = Json::object();
  if (counted.count) json[name] = *counted.count;
  json["full"] = counted.full;
  json["points"] = counted.points;
  json["max_points"] = counted.max_points;
  return json;
}

Json limit_json(const Limit& limit, double time_us) {
  return {{"what", limit.what},
          {"kernel", sanitize(limit.kernel)},
          {"cost_us", limit.cost_us},
          {"share", time_us > 0 ? limit.cost_us / time_us : 0},
          {"without_us", limit.without_us},
          {"next", limit.next},
          {"change", limit.change},
          {"counter", limit.counter},
          {"counter_value", limit.counter_value},
          {"proof", limit.proof}};
}

Json since_json(const SinceLastRun& since) {
  Json counters = Json::array();
  for (const CounterChange& change : since.counters) {
    counters.push_back({{"name", change.name},
                        {"before", change.before},
                        {"after", change.after},
                        {"unit", change.unit},
                        {"meaning", change.meaning}});
  }
  Json json{{"verdict", name_of(since.verdict)}, {"score", since.score}};
  if (!since.won.empty()) json["won"] = lines_json(since.won);
  if (!since.lost.empty()) json["lost"] = lines_json(since.lost);
  if (since.time_us && since.now_us) {
    json["timed"] = since.timed;
    json["time_us"] = *since.time_us;
    json["now_us"] = *since.now_us;
    if (since.time_at_least) json["time_at_least"] = true;
    if (since.now_at_least) json["now_at_least"] = true;
  }
  json["counters"] = std::move(counters);
  return json;
}

Json measured_json(const Measured& measured) {
  Json json{{"samples", measured.samples},           {"low_us", measured.low_us},
            {"high_us", measured.high_us},           {"dropped", measured.dropped},
            {"contradicted", measured.contradicted}, {"clocks_watched", measured.clocks_watched},
            {"slow_clock", measured.slow_clock},     {"busy_before", measured.busy_before},
            {"not_still", measured.not_still},       {"beside_others", measured.beside_others},
            {"disturbed", measured.disturbed},       {"users_known", measured.users_known}};
  if (measured.clock_mhz > 0) json["clock_mhz"] = measured.clock_mhz;
  Json users = Json::array();
  for (const GpuUser& user : measured.other_users) {
    Json one{{"pid", user.pid}, {"name", user.name}};
    if (user.memory_bytes > 0) one["memory_bytes"] = user.memory_bytes;
    users.push_back(std::move(one));
  }
  json["other_users"] = std::move(users);
  return json;
}

Json timing_json(const Timing& timing) {
  Json json{{"name", timing.name},
            {"sampled", timing.sampled},
            {"at_least", timing.at_least},
            {"time_us", timing.time_us},
            {"spread_us", timing.spread_us},
            {"roofline_us", timing.roofline_us},
            {"floor_us", timing.floor_us},
            {"efficiency", timing.efficiency},
            {"zero_efficiency", timing.zero_efficiency},
            {"target_efficiency", timing.target_efficiency},
            {"bound", timing.bound},
            {"flops", timing.flops},
            {"bytes", timing.bytes},
            {"limiter", timing.limiter},
            {"terms_us", timing.terms},
            {"advice", timing.advice},
            {"points", timing.points},
            {"max_points", timing.max_points}};
  if (timing.measured) json["measured"] = measured_json(*timing.measured);
  if (timing.modelled) {
    json["modelled"] = {{"low_us", timing.modelled->low_us}, {"high_us", timing.modelled->high_us}};
  }
  if (!timing.limit.what.empty()) json["limit"] = limit_json(timing.limit, timing.time_us);
  if (Json launches = counted_json(timing.launches, "count"); !launches.is_null()) {
    if (timing.launches.count) {
      launches["count"] = static_cast<std::uint64_t>(*timing.launches.count);
      launches["kernels"] = timing.kernels;
    }
    json["launches"] = std::move(launches);
  }
  if (Json bytes = counted_json(timing.dram_bytes, "bytes"); !bytes.is_null()) {
    bytes["compulsory"] = timing.bytes;
    json["dram_bytes"] = std::move(bytes);
  }
  if (timing.peak_memory) json["peak_memory_bytes"] = *timing.peak_memory;
  return json;
}

Json case_json(const CaseResult& one) {
  Json json{
      {"name", sanitize(one.name)}, {"verdict", name_of(one.verdict)}, {"hidden", one.hidden}};
  if (!one.group.empty()) json["group"] = sanitize(one.group);
  if (one.peak_memory) json["peak_memory_bytes"] = *one.peak_memory;
  return json;
}

Json group_json(const GroupResult& group) {
  Json json{{"name", sanitize(group.name)},
            {"verdict", name_of(group.verdict)},
            {"score", group.score},
            {"max_score", group.max_score}};
  if (!group.title.empty()) json["title"] = sanitize(group.title);
  return json;
}

Json version_json(const LoggedVersion& version) {
  Json json{{"version", version.version},
            {"hypothesis", sanitize(version.hypothesis)},
            {"counter", sanitize(version.counter)},
            {"result", sanitize(version.result)}};
  if (!version.has_run) return json;
  json["hash"] = sanitize(version.hash);
  json["device"] = sanitize(version.device);
  json["timed"] = sanitize(version.timed);
  json["time_us"] = version.time_us;
  json["efficiency"] = version.efficiency;
  json["limiter"] = sanitize(version.limiter);
  json["graded_again"] = version.is_graded_again;
  if (!version.counter_before.empty()) json["counter_before"] = version.counter_before;
  if (!version.counter_now.empty()) json["counter_now"] = version.counter_now;
  if (version.is_compared) json["moved"] = version.has_moved;
  if (!version.differs.empty()) json["differs"] = sanitize(version.differs);
  return json;
}

Json work_log_json(const WorkLog& log) {
  Json versions = Json::array();
  for (const LoggedVersion& version : log.versions) versions.push_back(version_json(version));
  return {{"kernel", sanitize(log.kernel)}, {"versions", std::move(versions)}};
}

Json tests_json(const TestsTable& table) {
  Json groups = Json::array();
  for (const TestsTable::Group& group : table.groups) {
    Json json{{"name", group.name}, {"title", group.title}, {"marks", group.marks}};
    if (!group.question.empty()) json["question"] = group.question;
    groups.push_back(std::move(json));
  }
  Json cases = Json::array();
  for (const TestsTable::Case& one : table.cases) {
    cases.push_back({{"name", sanitize(one.name)},
                     {"parameters", one.sizes},
                     {"marks", lines_json(one.marks)},
                     {"hidden", one.hidden}});
  }
  return {{"groups", std::move(groups)},
          {"cases", std::move(cases)},
          {"hidden", table.hidden},
          {"hidden_caught", table.hidden_caught}};
}

Json task_json(const TaskResult& task) {
  Json groups = Json::array();
  for (const GroupResult& group : task.groups) groups.push_back(group_json(group));
  Json cases = Json::array();
  for (const CaseResult& one : task.cases) cases.push_back(case_json(one));
  Json diagnostics = Json::array();
  for (const Diagnostic& diagnostic : task.diagnostics)
    diagnostics.push_back(diagnostic_json(diagnostic));
  Json json{{"id", task.id},
            {"title", task.title},
            {"bonus", task.bonus},
            {"verdict", name_of(task.verdict)},
            {"score", task.score},
            {"max_score", task.max_score},
            {"graded_later", task.graded_later},
            {"hidden_cases", task.hidden_cases},
            {"groups", std::move(groups)},
            {"cases", std::move(cases)}};
  if (!task.timings.empty()) {
    json["timing"] = timing_json(task.timings.front());
    add_lines(task.timings.front().costs, json["timing"]);
    json["timings"] = Json::array();
    for (const Timing& timing : task.timings) json["timings"].push_back(timing_json(timing));
  }
  json["diagnostics"] = std::move(diagnostics);
  if (!task.for_people.empty()) json["for_people"] = lines_json(task.for_people);
  json["counters"] = Json(task.counters);
  json["output"] = sanitize(task.printed);
  if (task.hints.of > 0) {
    json["hints"] = {
        {"shown", task.hints.shown}, {"of", task.hints.of}, {"points", task.hints.points}};
    for (const HintUse::OfGroup& group : task.hints.groups) {
      json["hints"]["groups"][sanitize(group.name)] = {{"shown", group.shown}, {"of", group.of}};
    }
  }
  if (task.work_log) json["work_log"] = work_log_json(*task.work_log);
  if (task.tests) json["tests"] = tests_json(*task.tests);
  if (task.since_last_run) json["since_last_run"] = since_json(*task.since_last_run);
  return json;
}

Json ladder_json(const Ladder& ladder, const std::vector<TaskResult>& tasks) {
  const LadderState state = state_of(ladder, tasks);
  Json json{{"id", ladder.id},
            {"title", ladder.title},
            {"steps", ladder.steps},
            {"graded", state.graded},
            {"done", state.done}};
  if (!state.next.empty()) json["next"] = state.next;
  return json;
}

/// Readers of JSON take larger numbers for floating-point ones.
Json seed_json(const Seed& seed) {
  constexpr std::uint64_t kLargestExact = std::uint64_t{1} << 53;
  if (seed.high == 0 && seed.low <= kLargestExact) return seed.low;
  return text_of(seed);
}

}  // namespace

std::string to_json(const GradeResult& result) {
  Json tasks = Json::array();
  for (const TaskResult& task : result.tasks) tasks.push_back(task_json(task));
  Json ladders = Json::array();
  for (const Ladder& ladder : result.ladders) ladders.push_back(ladder_json(ladder, result.tasks));
  const Json document{{"schema", 1},
                      {"part", result.part},
                      {"title", result.title},
                      {"course", sanitize(result.course)},
                      {"checkout", sanitize(result.checkout)},
                      {"device", result.device},
                      {"time_kind", result.time_kind},
                      {"peaks", sanitize(result.peaks)},
                      {"seed", seed_json(result.seed)},
                      {"sandbox", lines_json(result.sandbox)},
                      {"score", result.score()},
                      {"max_score", result.max_score()},
                      {"bonus", result.bonus()},
                      {"graded_later", result.graded_later()},
                      {"hidden_cases", result.hidden_cases()},
                      {"ladders", std::move(ladders)},
                      {"tasks", std::move(tasks)}};
  return document.dump(2) + "\n";
}

}  // namespace rooflab

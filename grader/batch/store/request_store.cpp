#include "grader/batch/store/request_store.h"

#include <fmt/format.h>

namespace rooflab {
namespace {

RequestState request_state_of(const std::string& name) {
  if (name == "granted") return RequestState::granted;
  return name == "declined" ? RequestState::declined : RequestState::open;
}

RegradeRequest read_request(Statement& row) {
  RegradeRequest request;
  request.id = row.integer();
  request.student = row.text();
  request.part = static_cast<int>(row.integer());
  request.task = row.text();
  request.why = row.text();
  request.asked_by = row.text();
  request.asked_at = row.integer();
  request.old_score = row.optional_real();
  request.state = request_state_of(row.text());
  request.reason = row.text();
  request.decided_by = row.text();
  request.decided_at = row.optional_integer();
  request.regrade = row.truth();
  request.grading = row.text();
  request.version = row.integer();
  return request;
}

constexpr const char* kColumns =
    "request, student, part, task, why, asked_by, asked_at, old_score, state, reason, decided_by, "
    "decided_at, regrade, grading, version";

std::string decision_words(RequestState state, const std::string& reason, bool regrade) {
  return fmt::format("{}{}{}{}", name_of(state), regrade ? ", to be graded again" : "",
                     reason.empty() ? "" : ": ", reason);
}

std::string subject_of(const RegradeRequest& request) {
  return "regrade request, " + (request.task.empty() ? "the part" : request.task);
}

}  // namespace

std::vector<RegradeRequest> RequestStore::all() {
  Statement row(database_,
                fmt::format("SELECT {} FROM regrade_requests ORDER BY request", kColumns));
  std::vector<RegradeRequest> requests;
  while (row.step()) requests.push_back(read_request(row));
  return requests;
}

bool RequestStore::add(const RegradeRequest& request, const ReviewAct& act) {
  Transaction transaction(database_);
  Statement known(database_,
                  "SELECT 1 FROM regrade_requests WHERE student = ? AND part = ? AND task = ? AND "
                  "why = ?");
  known.bind(request.student).bind(request.part).bind(request.task).bind(request.why);
  if (known.step()) return false;
  Statement(database_,
            "INSERT INTO regrade_requests (student, part, task, why, asked_by, asked_at, "
            "old_score, state, reason, decided_by, regrade, grading, version) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, 'open', '', '', 0, '', 1)")
      .bind(request.student)
      .bind(request.part)
      .bind(request.task)
      .bind(request.why)
      .bind(act.by)
      .bind(act.at)
      .bind(request.old_score)
      .run();
  review_.put_log({.at = act.at,
                   .by = act.by,
                   .what = "regrade requested",
                   .students = {request.student},
                   .part = request.part,
                   .subject = subject_of(request),
                   .after = request.why});
  transaction.commit();
  return true;
}

void RequestStore::decide(std::int64_t id, std::int64_t version, const RequestDecision& decision,
                          const ReviewAct& act) {
  Transaction transaction(database_);
  Statement row(database_,
                fmt::format("SELECT {} FROM regrade_requests WHERE request = ?", kColumns));
  row.bind(id);
  if (!row.step()) throw LostUpdate("there is no such request any more");
  const RegradeRequest before = read_request(row);
  if (before.version != version) {
    const std::string& by = before.decided_by;
    throw LostUpdate(fmt::format("{} has decided meanwhile: {}", by.empty() ? "somebody" : by,
                                 decision_words(before.state, before.reason, before.regrade)));
  }
  // Who wants a regrade of a request that had one gets another.
  Statement(database_,
            "UPDATE regrade_requests SET state = ?1, reason = ?2, decided_by = ?3, decided_at = "
            "?4, regrade = ?5, grading = iif(?5, '', grading), version = version + 1 WHERE request "
            "= ?6")
      .bind(name_of(decision.state))
      .bind(decision.reason)
      .bind(act.by)
      .bind(act.at)
      .bind(decision.regrade)
      .bind(id)
      .run();
  review_.put_log({.at = act.at,
                   .by = act.by,
                   .what = "regrade request decided",
                   .students = {before.student},
                   .part = before.part,
                   .subject = subject_of(before),
                   .before = decision_words(before.state, before.reason, before.regrade),
                   .after = decision_words(decision.state, decision.reason, decision.regrade)});
  transaction.commit();
}

void RequestStore::begin_regrade(std::int64_t id, const std::string& grading) {
  Statement(database_,
            "UPDATE regrade_requests SET grading = ?, version = version + 1 WHERE request = ?")
      .bind(grading)
      .bind(id)
      .run();
}

}  // namespace rooflab

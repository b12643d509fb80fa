#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grader/batch/regrade_request.h"
#include "grader/batch/store/review_store.h"

/// Requests to look at a grade again, and what was decided about them. They stand in the batch's
/// database.
namespace rooflab {

/// What is decided about a request.
struct RequestDecision {
  RequestState state = RequestState::granted;  ///< not open
  std::string reason = {};
  bool regrade = false;
};

/// add() and decide() are a transaction each, and keep what was there in the review's log.
class RequestStore {
 public:
  explicit RequestStore(Store& store) : database_(store.database_), review_(store) {}

  std::vector<RegradeRequest> all();  ///< the oldest first

  /// Keeps a new request: of it, who asks for what and why. @return false where the same student
  /// asked the same before, which then stays as it is
  bool add(const RegradeRequest& request, const ReviewAct& act);
  /// Decides, or decides otherwise than before.
  /// @param version that its writer saw. @throws LostUpdate where there is a newer one
  void decide(std::int64_t id, std::int64_t version, const RequestDecision& decision,
              const ReviewAct& act);
  /// The regrade of a granted request is on its way: part of the transaction that plans it.
  void begin_regrade(std::int64_t id, const std::string& grading);

 private:
  Database& database_;
  ReviewStore review_;
};

}  // namespace rooflab

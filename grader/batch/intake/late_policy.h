#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/batch/intake/held_tests.h"
#include "grader/batch/intake/slip_days.h"

namespace rooflab {

/// What being late costs, from a TOML file:
///
///     due = 2026-11-20T23:59:00+01:00
///     grace_minutes = 15          # as late as this is in time
///     marked_late_hours = 24      # for a submission that is only marked late, without a time
///     regrade_counts = "best"     # optional: of a regrade and the grade before it; or "latest"
///     [[step]]                    # from the first hour on; the last step that fits counts
///     after_hours = 0
///     keeps = 0.9                 # of the points
///     [parts.2]
///     due = 2026-11-27T23:59:00+01:00
///     [[extension]]
///     student = "ada"             # key, login, e-mail address or SIS id
///     part = 2                    # optional: every part when left out
///     due = 2026-12-01T12:00:00Z
///     [slip_days]                 # optional: slip_days.h
///     each = 4
///     [submissions]               # optional
///     most = 3                    # of each student; the newest of the first three counts
///     [[after_due]]               # optional: held_tests.h
///     part = 1
///     task = "gemm_tiled"
class LatePolicy {
 public:
  struct Lateness {
    double hours = 0;   ///< after the student's own due date and grace; 0 when in time
    double keeps = 1;   ///< the fraction of the points that is left
    int slip_days = 0;  ///< that it has cost
    std::string why;    ///< "3.2 hours late: 90 % of the points count"; empty when in time
  };

  /// Nobody is late.
  LatePolicy() = default;
  /// Due dates by part, in seconds since 1970, for where a policy does not name one.
  using Calendar = std::map<int, std::int64_t>;
  /// Who is late by the calendar is told so, and loses nothing.
  explicit LatePolicy(Calendar calendar) : part_due_(std::move(calendar)) {}
  /// @throws SpecError naming file, line and remedy, also for a policy without a due date or
  /// without a step
  static LatePolicy parse(std::string_view text, const std::string& name,
                          const Calendar& calendar = {});

  /// Whom extensions and spent slip days are for, as the file calls them: one that fits nobody is
  /// a slip of the pen.
  std::vector<std::string> named_students() const;

  /// A time decides where there is one, else the mark. An extension for the part counts before one
  /// for every part.
  /// @param student_names what the student is called in `extension`: key, login, e-mail, SIS id
  /// @param slip_days that the student has left: as few are spent as save the most points
  Lateness lateness(const std::vector<std::string>& student_names, int part,
                    std::optional<std::int64_t> received_at, bool marked_late,
                    int slip_days = 0) const;

  const SlipDays& slip_days() const { return slip_days_; }

  /// How many submissions of a student are looked at; nothing where there is no limit.
  std::optional<std::size_t> most_submissions() const { return most_submissions_; }

  /// Tests that show and count once their part is due.
  const std::vector<HeldTest>& held_tests() const { return held_tests_; }
  /// When the part is due for the last student, extensions included, in seconds since 1970: sooner,
  /// one could tell another what the tests are. Nothing where nothing says when it is due.
  std::optional<std::int64_t> last_due_of(int part) const;
  /// "latest" or "best"; empty where the policy does not say.
  const std::string& regrade_counts() const { return regrade_counts_; }

  /// The parts as they are due, those without a date last: in this order slip days are spent.
  std::vector<int> in_order_of_due(std::vector<int> parts) const;

 private:
  class Reader;
  struct Step {
    double after_hours = 0;
    double keeps = 1;
  };
  struct Extension {
    std::string student;
    std::optional<int> part;
    std::int64_t due = 0;
  };
  const Extension* extension_of(const std::vector<std::string>& names, int part) const;
  std::optional<std::int64_t> due_of(int part) const;
  double keeps_after(double hours) const;
  void spend_slip_days(int left, Lateness& lateness) const;

  std::optional<std::int64_t> due_;
  std::map<int, std::int64_t> part_due_;
  double grace_hours_ = 0;
  double marked_late_hours_ = 0;
  std::vector<Step> steps_;
  std::vector<Extension> extensions_;
  SlipDays slip_days_;
  std::optional<std::size_t> most_submissions_;
  std::vector<HeldTest> held_tests_;
  std::string regrade_counts_;
};

}  // namespace rooflab

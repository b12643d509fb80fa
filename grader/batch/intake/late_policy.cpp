#include "grader/batch/intake/late_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "grader/batch/intake/fold_name.h"
#include "grader/spec/part.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kLongestHours = 100 * 366 * 24;

/// A number that has to lie in a range; NaN lies in none.
double within(TableReader& reader, const std::string& key, double fallback, double most,
              const char* range) {
  const double value = reader.number_or(key, fallback);
  if (value >= 0 && value <= most) return value;
  throw reader.error(key, fmt::format("`{}` is {}", key, value),
                     fmt::format("write a number {}", range));
}

/// Or minutes.
double hours(TableReader& reader, const std::string& key) {
  return within(reader, key, 0, kLongestHours, "from 0 on");
}

std::string points_that_count(double keeps) {
  if (keeps >= 1) return "all points count";
  if (keeps <= 0) return "no points count";
  return fmt::format("{:.3g} % of the points count", 100 * keeps);
}

}  // namespace

class LatePolicy::Reader {
 public:
  Reader(std::string name, const Calendar& calendar)
      : name_(std::move(name)), calendar_(calendar) {}

  LatePolicy read(const toml::table& table) {
    TableReader reader(table, name_, "late policy");
    policy_.due_ = reader.maybe_time("due");
    policy_.grace_hours_ = hours(reader, "grace_minutes") / 60;
    policy_.marked_late_hours_ = hours(reader, "marked_late_hours");
    read_regrade_counts(reader);
    reader.each("step", [&](const toml::table& step) { read_step(step); });
    reader.each("extension", [&](const toml::table& extension) { read_extension(extension); });
    reader.maybe("parts", [&](const toml::table& parts) { read_parts(parts); });
    reader.maybe("slip_days", [&](const toml::table& days) {
      TableReader slip(days, name_, "[slip_days]");
      policy_.slip_days_ = SlipDays::read(slip, name_);
    });
    reader.maybe("submissions", [&](const toml::table& limits) { read_limit(limits); });
    reader.each("after_due", [&](const toml::table& test) {
      policy_.held_tests_.push_back(read_held_test(test, name_));
    });
    reader.finish();
    // The policy's own date for every part counts before the calendar's.
    if (!policy_.due_) policy_.part_due_.insert(calendar_.begin(), calendar_.end());
    require_effect(reader);
    return std::move(policy_);
  }

 private:
  void read_regrade_counts(TableReader& reader) {
    std::string& counts = policy_.regrade_counts_;
    counts = reader.text_or("regrade_counts", "");
    if (counts.empty() || counts == "latest" || counts == "best") return;
    throw reader.error("regrade_counts", fmt::format("`regrade_counts` is \"{}\"", counts),
                       "write \"latest\", or \"best\" for the better of a regrade and the grade "
                       "before it");
  }

  /// An empty or half-written policy would take away every penalty without a word.
  void require_effect(const TableReader& reader) const {
    const bool anybody_late =
        policy_.due_ || !policy_.part_due_.empty() || policy_.marked_late_hours_ > 0;
    if (!anybody_late) {
      throw reader.error(
          "due", "the policy says of nothing when it is due",
          "write due = 2026-11-20T23:59:00+01:00, or [parts.2] with a due date, or give "
          "labs/course.toml a calendar");
    }
    if (policy_.steps_.empty()) {
      throw reader.error("step", "the policy does not say what being late costs",
                         "write [[step]] with after_hours = 0 and keeps = 0.9 for 90 % of the "
                         "points, or keeps = 1 where lateness takes nothing");
    }
    for (const HeldTest& test : policy_.held_tests_) {
      if (policy_.due_of(test.part)) continue;
      throw SpecError(fmt::format(
          "{}: nothing says when part {} is due, so its tests would never count; write due = "
          "2026-11-20T23:59:00+01:00 below [parts.{}]",
          test.place, test.part, test.part));
    }
  }

  void read_limit(const toml::table& table) {
    constexpr std::int64_t kMost = 10'000;
    TableReader reader(table, name_, "[submissions]");
    const std::int64_t most = reader.integer("most");
    if (most < 1 || most > kMost) {
      throw reader.error("most", fmt::format("`most` is {}", most),
                         fmt::format("write a whole number from 1 to {}", kMost));
    }
    reader.finish();
    policy_.most_submissions_ = static_cast<std::size_t>(most);
  }

  void read_step(const toml::table& table) {
    TableReader reader(table, name_, "[[step]]");
    Step step;
    step.after_hours = hours(reader, "after_hours");
    step.keeps = within(reader, "keeps", reader.number("keeps"), 1,
                        "from 0 to 1: 0.9 keeps 90 % of the points");
    reader.finish();
    auto& steps = policy_.steps_;
    if (!steps.empty() && step.after_hours <= steps.back().after_hours) {
      throw reader.error("after_hours", "the step does not begin after the one above it",
                         "sort the steps by `after_hours`, each beginning later");
    }
    steps.push_back(step);
  }

  void read_extension(const toml::table& table) {
    TableReader reader(table, name_, "[[extension]]");
    Extension extension;
    extension.student = reader.text("student");
    if (extension.student.empty()) {
      throw reader.error("student", "`student` is empty",
                         "write the key, login, e-mail address or SIS id of the roster");
    }
    if (const auto part = reader.maybe_integer("part")) {
      if (*part < 0 || *part > kLastPart) {
        throw reader.error("part", fmt::format("there is no part {}", *part),
                           "write the part's number, such as 2");
      }
      extension.part = static_cast<int>(*part);
    }
    extension.due = reader.time("due");
    reader.finish();
    const auto is_same = [&](const Extension& other) {
      return lower_case(other.student) == lower_case(extension.student) &&
             other.part == extension.part;
    };
    if (std::ranges::any_of(policy_.extensions_, is_same)) {
      throw reader.error("student",
                         fmt::format("\"{}\" has an extension for this already", extension.student),
                         "keep one of the two");
    }
    policy_.extensions_.push_back(std::move(extension));
  }

  void read_parts(const toml::table& table) {
    for (const auto& [key, node] : table) {
      const std::string number(key.str());
      const char* const last = number.data() + number.size();
      int part = 0;
      const auto [end, error] = std::from_chars(number.data(), last, part);
      if (error != std::errc() || end != last || part < 0 || part > kLastPart || !node.is_table()) {
        throw spec_error(name_, node, fmt::format("`parts.{}` is no part", number),
                         "write [parts.2] with due = …, for part 2");
      }
      TableReader reader(*node.as_table(), name_, fmt::format("[parts.{}]", number));
      policy_.part_due_[part] = reader.time("due");
      reader.finish();
    }
  }

  std::string name_;
  const Calendar& calendar_;
  LatePolicy policy_;
};

LatePolicy LatePolicy::parse(std::string_view text, const std::string& name,
                             const Calendar& calendar) {
  return Reader(name, calendar).read(parse_toml_text(std::string(text), name));
}

std::vector<std::string> LatePolicy::named_students() const {
  std::vector<std::string> students;
  const auto add = [&](const std::string& student) {
    if (std::ranges::find(students, student) == students.end()) students.push_back(student);
  };
  for (const Extension& extension : extensions_) add(extension.student);
  std::ranges::for_each(slip_days_.named_students(), add);
  return students;
}

std::vector<int> LatePolicy::in_order_of_due(std::vector<int> parts) const {
  std::ranges::stable_sort(parts, {}, [this](int part) {
    return due_of(part).value_or(std::numeric_limits<std::int64_t>::max());
  });
  return parts;
}

std::optional<std::int64_t> LatePolicy::due_of(int part) const {
  const auto own = part_due_.find(part);
  return own == part_due_.end() ? due_ : own->second;
}

std::optional<std::int64_t> LatePolicy::last_due_of(int part) const {
  std::optional<std::int64_t> last = due_of(part);
  if (!last) return last;
  for (const Extension& extension : extensions_) {
    if (extension.part.value_or(part) == part) last = std::max(*last, extension.due);
  }
  return last;
}

const LatePolicy::Extension* LatePolicy::extension_of(const std::vector<std::string>& names,
                                                      int part) const {
  const Extension* found = nullptr;
  for (const Extension& extension : extensions_) {
    if (!means_one_of(extension.student, names) || extension.part.value_or(part) != part) continue;
    const bool is_closer = found == nullptr || (extension.part && !found->part);
    const bool is_later = found != nullptr &&
                          extension.part.has_value() == found->part.has_value() &&
                          extension.due > found->due;
    if (is_closer || is_later) found = &extension;
  }
  return found;
}

LatePolicy::Lateness LatePolicy::lateness(const std::vector<std::string>& student_names, int part,
                                          std::optional<std::int64_t> received_at, bool marked_late,
                                          int slip_days) const {
  const Extension* const extension = extension_of(student_names, part);
  const std::optional<std::int64_t> usual = due_of(part);
  const std::optional<std::int64_t> due = extension != nullptr ? extension->due : usual;
  Lateness result;
  if (received_at && due) {
    result.hours =
        (static_cast<double>(*received_at) - static_cast<double>(*due)) / kSecondsPerHour -
        grace_hours_;
    if (!(result.hours > 0)) return {};
    result.why = fmt::format("{:.1f} hours late", result.hours);
  } else if (!received_at && marked_late) {
    // Who marked it knew of the usual date only, as far as anybody can tell.
    const double later = extension != nullptr && usual
                             ? static_cast<double>(extension->due - *usual) / kSecondsPerHour
                             : 0;
    result.hours = std::max(0.0, marked_late_hours_ - std::max(0.0, later));
    if (later > 0 && !(result.hours > 0)) return {};
    result.why = fmt::format("marked late, taken for {:.3g} hours", result.hours);
  } else {
    return {};
  }
  result.keeps = keeps_after(result.hours);
  spend_slip_days(slip_days, result);
  result.why += ": " + points_that_count(result.keeps);
  return result;
}

/// @param hours late, which a policy may say costs nothing
double LatePolicy::keeps_after(double hours) const {
  double keeps = 1;
  for (const Step& step : steps_) {
    if (hours >= step.after_hours) keeps = step.keeps;
  }
  return keeps;
}

void LatePolicy::spend_slip_days(int left, Lateness& lateness) const {
  constexpr double kHoursPerDay = 24;
  const int most = std::min(left, slip_days_.per_part());
  for (int days = 1; days <= most; ++days) {
    const double hours = lateness.hours - kHoursPerDay * days;
    const double keeps = hours > 0 ? keeps_after(hours) : 1;
    if (keeps > lateness.keeps) {
      lateness.keeps = keeps;
      lateness.slip_days = days;
    }
    if (!(hours > 0)) break;
  }
  if (lateness.slip_days == 0) return;
  lateness.why += fmt::format(", {} slip {} spent, {} left", lateness.slip_days,
                              lateness.slip_days == 1 ? "day" : "days", left - lateness.slip_days);
}

}  // namespace rooflab

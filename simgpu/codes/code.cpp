#include "simgpu/codes/code.h"

#include <algorithm>
#include <ostream>

#include "simgpu/codes/table.h"

namespace simgpu {

/// Holds the table to the ranges: a code without a row does not compile, nor does a row without a
/// code.
struct CodeTable {
  static constexpr bool is_complete() {
    std::size_t row = 0;
    for (const Code::Range& range : Code::kRanges) {
      for (std::uint16_t number = range.first; number <= range.last; ++number) {
        if (row == kCodeRows.size() || kCodeRows[row].number != number) return false;
        ++row;
      }
    }
    return row == kCodeRows.size();
  }
};
static_assert(CodeTable::is_complete(),
              "table.h needs a row, in order, for each number of Code::kRanges in code.h, and no "
              "others");

namespace {

constexpr CodeRow kOfACourse{.number = 0, .meaning = "what a part of this course looks for"};

const CodeRow& row_of(Code code) {
  const auto row = std::ranges::lower_bound(kCodeRows, code.number(), {}, &CodeRow::number);
  return row != kCodeRows.end() && row->number == code.number() ? *row : kOfACourse;
}

}  // namespace

std::optional<Code> Code::of_number(std::uint16_t number) {
  if (!is_code(number)) return std::nullopt;
  return Code(number);
}

std::optional<Code> Code::parse(std::string_view text) { return of_number(number_in(text)); }

std::string Code::text() const {
  const std::string digits = std::to_string(number_);
  return "RL" + std::string(4 - digits.size(), '0') + digits;
}

const char* Code::meaning() const { return row_of(*this).meaning; }
CodeRole Code::role() const { return row_of(*this).role; }
std::optional<FindingKind> Code::kind() const { return row_of(*this).kind; }
LaunchStatus Code::status() const { return row_of(*this).status; }
const char* Code::help() const { return row_of(*this).help; }
const char* Code::note() const { return row_of(*this).note; }

std::vector<Code> all_codes() {
  std::vector<Code> codes;
  for (const CodeRow& row : kCodeRows) codes.push_back(*Code::of_number(row.number));
  return codes;
}

void PrintTo(const Code& code, std::ostream* out) { *out << code.text(); }

const char* name_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_bounds:
      return "out-of-bounds";
    case FindingKind::misaligned:
      return "misaligned";
    case FindingKind::uninitialized_read:
      return "uninitialized-read";
    case FindingKind::shared_race:
      return "shared-race";
    case FindingKind::global_race:
      return "global-race";
    case FindingKind::divergent_barrier:
      return "divergent-barrier";
    case FindingKind::deadlock:
      return "deadlock";
    case FindingKind::invalid_api_use:
      return "invalid-api-use";
    case FindingKind::leak:
      return "leak";
    case FindingKind::device_assert:
      return "device-assert";
    case FindingKind::trap:
      return "trap";
    case FindingKind::too_long:
      return "too-long";
    case FindingKind::unsupported:
      return "unsupported";
  }
  return "unsupported";
}

}  // namespace simgpu

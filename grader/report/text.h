#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "grader/spec/result.h"

namespace rooflab {

/// Untrusted bytes as valid UTF-8: malformed sequences become U+FFFD; NUL and other control
/// characters except newline and tab become their visible pictures (U+2400 …), so that no terminal
/// acts on them. What separates lines or turns the direction of text becomes U+FFFD too, and so do
/// the two characters that XML forbids.
std::string sanitize(std::string_view bytes);

/// sanitize(), with line breaks and tabs as spaces: text of a submission cannot start a line of its
/// own in a report.
std::string one_line(std::string_view bytes);

/// sanitize(), then &, <, >, " and ' as HTML entities.
std::string escape_html(std::string_view bytes);

/// The text, or its beginning with an ellipsis: at most `most` characters, cut between words where
/// that keeps at least half of them.
std::string shorten(const std::string& text, std::size_t most);

/// Lines of at most `width` characters, broken at spaces; a longer word stays whole.
std::vector<std::string> wrap(const std::string& text, std::size_t width);

/// "time limit"
std::string verdict_words(Verdict verdict);

/// "✓", "✗", or "○" of what was not tried: pages never tell a verdict by colour alone.
const char* verdict_sign(Verdict verdict);

/// Whether a task is a work log in which nothing is wrong and something is missing.
bool is_unfinished_log(const TaskResult& task);

/// What a task came to: its verdict, "answered" where only its form was looked at, or "incomplete"
/// of an unfinished work log.
std::string outcome_words(const TaskResult& task);

/// "8.5/10", "?/11" where all of it is graded later.
std::string points_words(const TaskResult& task);

/// What a copy of the course without keys and hidden cases has to say about its total, a sentence
/// each: "93 of 93 points checked here; 11 are graded after you hand in". None elsewhere.
std::vector<std::string> total_notes(const GradeResult& result);

/// 12.3 ms, 1.05 us: three significant digits with the unit that suits.
std::string format_time_us(double microseconds);
/// 2.11 TFLOP/s for (2.11e12, "FLOP/s").
std::string format_si(double value, std::string_view unit);
/// A counter's value: 134 million as "1.34e+08", but 4096 as it is, and 31.98 as "31.98".
std::string format_count(double value);
/// 12 MiB, 1.5 GiB.
std::string format_bytes(double bytes);
/// "22" or "22.5": at most one decimal.
std::string format_points(double points);
/// The groups that a story costs, for a line below it: "fails: edges, masks". Empty where the task
/// has a single group.
std::string format_groups(const Diagnostic& story);
/// The groups of a task that have no points, as "edges 0/4 · masks 0/3"; empty where that says no
/// more than the task's own line, since all of them fail alike or none does.
std::string format_lost_groups(const TaskResult& task);
/// "17 of 18 cases pass", or "8 of 10 answers are right", of a task that fails; empty where that
/// says no more than the verdict.
std::string format_cases(const TaskResult& task);
/// What full marks still ask for, by task and group: "38.4 points are missing: gemm_tiled 13.4
/// (6 for edges, 7.4 for the time of 1024^3) · 25 in 2 tasks that are still a TODO". Of bonus tasks
/// only where no other was graded. Empty where nothing is missing, or only what is still a TODO:
/// the table says that.
std::string missing_words(const GradeResult& result);
/// What a timed case reached of what bounds it: "2.11 TFLOP/s" where that is arithmetic, else bytes
/// per second.
std::string format_rate(const Timing& timing);
/// What a timed call took of DRAM against what it must: "3.20x the compulsory bytes"; empty when
/// nothing is known of either.
std::string format_traffic(const Timing& timing);
/// "8 launches"; "1 launch of 8 kernels" where a graph launched several; empty when not known.
std::string format_launches(const Timing& timing);
/// What stands behind a time. Of a measured one " ±0.3 %": half the distance of the samples'
/// quartiles, relative to the time. Of a modelled one its band, ", 430 to 540", in the unit of the
/// time. Empty where neither is known.
std::string format_spread(const Timing& timing);
/// "1.23 ms", or ">= 1.23 ms" of a time that is a lower bound.
std::string format_time(const Timing& timing);
/// "12.3 %", or "at most 12.3 %" where the time is a lower bound, "an unknown share" of one that
/// says nothing.
std::string format_efficiency(const Timing& timing);
/// How a time was measured: "median of 34 samples, known to -0.21 % and +0.35 %, at 1305 MHz; 2
/// samples dropped, taken while the GPU was throttled". The time lies between the two ends with 95
/// % confidence. Empty for a modelled time.
std::string format_measured(const Timing& timing);
/// Whether that holds more than there is to say of any measured time.
bool is_measured_with_trouble(const Timing& timing);
/// "2 of 3 hints used", of a task whose functions or questions have some of their own "4 hints
/// used, of 3 for the task and for each function"; and what they cost where they do: "…, which cost
/// 5 points". Empty when none was.
std::string format_hints(const TaskResult& task);
/// "10.8 %".
std::string format_percent(double fraction);

/// "2026-11-20 22:59 UTC", of seconds since 1970.
std::string utc_time(std::int64_t seconds);

/// Of today, in UTC: 2026-11-23.
std::string utc_date();

/// " · peaks: calibrated on this GPU, 2026-03-14": which peaks measured times are held against.
/// Modelled ones have only the data sheet's, and nothing is said of them.
std::string peaks_words(const GradeResult& result);

}  // namespace rooflab

#include "grader/author/compare_times/times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "grader/spec/files.h"
#include "grader/spec/fnv1a.h"
#include "grader/spec/toml_reader.h"

namespace rooflab::compare_times {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::size_t kDigestDigits = 16;

/// A number above 0, or from 0 on where `may_be_zero`.
double positive(TableReader& reader, const std::string& key, bool may_be_zero = false) {
  const double value = reader.number(key);
  if (!std::isfinite(value) || !(may_be_zero ? value >= 0 : value > 0)) {
    throw reader.error(key, "a time or clock cannot be that", "measure anew");
  }
  return value;
}

CaseTime read_case(const toml::table& table, const std::filesystem::path& file) {
  TableReader reader(table, file, "[[kernel.case]]");
  CaseTime one{.name = reader.text("name"),
               .time_us = positive(reader, "time_us"),
               .spread_us = positive(reader, "spread_us", true),
               .digest = reader.text("digest")};
  if (one.digest.size() != kDigestDigits) {
    throw reader.error("digest", "a digest has 16 digits", "measure anew");
  }
  reader.finish();
  return one;
}

TimedKernel read_kernel(const toml::table& table, const std::filesystem::path& file) {
  TableReader reader(table, file, "[[kernel]]");
  TimedKernel kernel{.name = reader.text("name")};
  const Half half = half_of(kernel.name);
  if (reader.text("half") != name_of(half)) {
    throw reader.error(
        "half", fmt::format("the rule puts {} into the half for {}", kernel.name, name_of(half)),
        "halves are not chosen: write what the rule says");
  }
  std::set<std::string> seen;
  reader.each("case", [&](const toml::table& one) {
    kernel.cases.push_back(read_case(one, file));
    if (!seen.insert(kernel.cases.back().name).second) {
      throw reader.error("case", fmt::format("{} is there twice", kernel.cases.back().name),
                         "leave one of them");
    }
  });
  reader.finish();
  return kernel;
}

LeftOut read_left_out(const toml::table& table, const std::filesystem::path& file) {
  TableReader reader(table, file, "[[left_out]]");
  LeftOut left_out{.name = reader.text("name"), .why = reader.text("why")};
  reader.finish();
  return left_out;
}

void read_machine(const toml::table& table, const std::filesystem::path& file,
                  MeasuredTimes& measured) {
  TableReader reader(table, file, "[machine]");
  measured.device = reader.text("device");
  measured.driver = reader.text("driver");
  measured.tool = reader.text("tool");
  measured.date = reader.text("date");
  measured.clocks_watched = reader.boolean_or("clocks_watched", false);
  measured.sm_mhz_before = positive(reader, "sm_mhz_before", true);
  measured.sm_mhz_after = positive(reader, "sm_mhz_after", true);
  reader.finish();
}

}  // namespace

const char* name_of(Half half) { return half == Half::fitting ? "fitting" : "judging"; }

Half half_of(std::string_view kernel) {
  constexpr int kBit = 32;  // the lowest bits of FNV-1a are little more than the parity of the text
  return ((fnv1a(std::string(kernel)) >> kBit) & 1U) == 0 ? Half::fitting : Half::judging;
}

std::string part_of(const std::string& kernel) { return kernel.substr(0, kernel.find('/')); }

std::string to_toml(const MeasuredTimes& measured) {
  std::string text = fmt::format(
      "# Times of the course's kernels on one GPU, {} by `grader compare-times --measure`.\n"
      "# docs/design/time-model.md says what they are for. Not to be edited: measure anew.\n"
      "schema = {}\ngpu = {}  # specs/gpus/{}.toml\nkind = {}\nhalves = {}\n\n"
      "[machine]\ndevice = {}\ndriver = {}\ntool = {}\ndate = {}\nclocks_watched = {}\n"
      "sm_mhz_before = {}\nsm_mhz_after = {}\n",
      measured.kind, kSchema, toml_string(measured.gpu), measured.gpu, toml_string(measured.kind),
      toml_string(kHalfRule), toml_string(measured.device), toml_string(measured.driver),
      toml_string(measured.tool), toml_string(measured.date), measured.clocks_watched,
      measured.sm_mhz_before, measured.sm_mhz_after);
  for (const TimedKernel& kernel : measured.times.kernels) {
    text += fmt::format("\n[[kernel]]\nname = {}\nhalf = {}\n", toml_string(kernel.name),
                        toml_string(name_of(half_of(kernel.name))));
    for (const CaseTime& one : kernel.cases) {
      text += fmt::format(
          "  [[kernel.case]]\n  name = {}\n  time_us = {:.6g}\n  spread_us = {:.3g}\n"
          "  digest = {}\n",
          toml_string(one.name), one.time_us, one.spread_us, toml_string(one.digest));
    }
  }
  for (const LeftOut& left_out : measured.times.left_out) {
    text += fmt::format("\n[[left_out]]\nname = {}\nwhy = {}\n", toml_string(left_out.name),
                        toml_string(left_out.why));
  }
  return text;
}

MeasuredTimes load_measured_times(const std::filesystem::path& file) {
  const toml::table root = parse_toml(file);
  TableReader reader(root, file, "the file");
  if (reader.integer("schema") != kSchema) {
    throw reader.error("schema", "this grader reads schema 1", "measure anew");
  }
  MeasuredTimes measured{.gpu = reader.text("gpu"), .kind = reader.text("kind")};
  if (measured.kind != "measured" && measured.kind != "modelled") {
    throw reader.error("kind", "times are \"measured\" or \"modelled\"", "write one of them");
  }
  if (reader.text("halves") != kHalfRule) {
    throw reader.error("halves", "kernels were divided by another rule",
                       "measure anew: the halves of different rules overlap");
  }
  if (!reader.maybe("machine",
                    [&](const toml::table& table) { read_machine(table, file, measured); })) {
    throw reader.error("machine", "nothing says on which machine this was", "measure anew");
  }
  std::set<std::string> seen;
  reader.each("kernel", [&](const toml::table& table) {
    measured.times.kernels.push_back(read_kernel(table, file));
    if (!seen.insert(measured.times.kernels.back().name).second) {
      throw spec_error(file, table, "a kernel is there twice", "leave one of them");
    }
  });
  reader.each("left_out", [&](const toml::table& table) {
    measured.times.left_out.push_back(read_left_out(table, file));
  });
  reader.finish();
  return measured;
}

std::filesystem::path measured_file(const std::filesystem::path& root,
                                    const MeasuredTimes& measured, const std::string& uuid) {
  constexpr std::size_t kShort = 8;
  std::string which;
  for (const char c : uuid.substr(uuid.find('-') + 1)) {
    if (which.size() < kShort && std::isxdigit(static_cast<unsigned char>(c)) != 0) which += c;
  }
  return root / "specs" / "measured" / measured.gpu /
         fmt::format("{}-{}.toml", measured.date, which.empty() ? "unknown" : which);
}

std::vector<std::filesystem::path> measured_files(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> files = files_below(root / "specs" / "measured");
  std::erase_if(files, [](const auto& file) { return file.extension() != ".toml"; });
  return files;
}

}  // namespace rooflab::compare_times

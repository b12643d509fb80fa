#include "specs/calibration.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <sstream>

#include "specs/units.h"

namespace gpu_spec {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::uintmax_t kMostBytes = 1 << 20;
constexpr std::size_t kMostPeaks = 100;

// What a GPU may exceed its data sheet by: rounding in the sheet, and clocks that are not watched.
constexpr double kFewPercent = 1.05;
// No data sheet gives the L2's bandwidth: ours are derived or of others' benchmarks.
constexpr double kDerived = 1.25;
// Cards whose maker lets them clock above the data sheet's boost stay within this.
constexpr double kMostOverclock = 1.25;
// Less than this share of the data sheet is no peak: another program used the GPU, or the file is
// of another one. A T4 within its 70 W reaches 0.37 of its tensor peak.
constexpr double kLeastShare = 0.2;
constexpr double kMostSpread = 0.25;
constexpr int kLeastSamples = 3;
constexpr double kLeastLaunchUs = 0.1;
constexpr double kMostLaunchUs = 50;

bool is_launch(const Quantity& quantity) { return std::string(quantity.unit) == "us"; }

/// A file of a calibration, read strictly: each complaint names its place.
class CalibrationReader {
 public:
  CalibrationReader(const std::filesystem::path& file, const toml::table& root)
      : file_(file), root_(root) {}

  Calibration read() const {
    if (const auto schema = root_["schema"].value_exact<std::int64_t>(); schema != kSchema) {
      fail(root_.get("schema"), "schema",
           fmt::format("must be {}; calibrate anew with this grader", kSchema));
    }
    Calibration found;
    found.gpu = text(root_, "gpu");
    found.kind = text(root_, "kind");
    const toml::table* const machine = root_["machine"].as_table();
    if (machine == nullptr) fail(nullptr, "machine", "is missing; calibrate anew");
    found.device = text(*machine, "device");
    found.uuid = text(*machine, "uuid");
    found.driver = text(*machine, "driver");
    found.tool = text(*machine, "tool");
    found.date = text(*machine, "date");
    found.watched = flag(*machine, "clocks_watched");
    const toml::array* const peaks = root_["peak"].as_array();
    if (peaks == nullptr || peaks->empty()) fail(root_.get("peak"), "peak", "has no entry");
    if (peaks->size() > kMostPeaks) fail(peaks, "peak", "has too many entries");
    for (const toml::node& entry : *peaks) found.peaks.push_back(peak(entry, found));
    return found;
  }

 private:
  [[noreturn]] void fail(const toml::node* node, const std::string& key,
                         const std::string& what) const {
    const std::string line =
        node == nullptr ? "" : fmt::format(":{}", static_cast<unsigned>(node->source().begin.line));
    throw SpecError(fmt::format("{}{}: {} {}", file_.string(), line, key, what));
  }

  std::string text(const toml::table& table, const char* key) const {
    const toml::node* const node = table.get(key);
    const auto value = node == nullptr ? std::nullopt : node->value_exact<std::string>();
    if (!value) fail(node, key, "must be a text; calibrate anew");
    return *value;
  }

  bool flag(const toml::table& table, const char* key) const {
    const toml::node* const node = table.get(key);
    const auto value = node == nullptr ? std::nullopt : node->value_exact<bool>();
    if (!value) fail(node, key, "must be true or false; calibrate anew");
    return *value;
  }

  double number(const toml::table& table, const char* key) const {
    const toml::node* const node = table.get(key);
    const auto value = node == nullptr || !node->is_number() ? std::nullopt : node->value<double>();
    if (!value || !std::isfinite(*value)) fail(node, key, "must be a number; calibrate anew");
    return *value;
  }

  int count(const toml::table& table, const char* key) const {
    const double value = number(table, key);
    if (value < 0 || value > std::numeric_limits<int>::max() || value != std::floor(value)) {
      fail(table.get(key), key, "must be a count; calibrate anew");
    }
    return static_cast<int>(value);
  }

  CalibratedPeak peak(const toml::node& entry, const Calibration& before) const {
    const toml::table* const table = entry.as_table();
    if (table == nullptr) fail(&entry, "peak", "must be a table, [[peak]]");
    CalibratedPeak found;
    found.quantity = text(*table, "quantity");
    const auto& known = quantities();
    const auto quantity = std::ranges::find(known, found.quantity, &Quantity::name);
    if (quantity == known.end()) fail(&entry, "quantity", "is none that calibrations know");
    if (before.find(found.quantity) != nullptr) fail(&entry, found.quantity, "is there twice");
    if (text(*table, "unit") != quantity->unit) {
      fail(&entry, "unit", fmt::format("of {} must be {}", found.quantity, quantity->unit));
    }
    found.value = number(*table, "value");
    found.spread = number(*table, "spread");
    found.samples = count(*table, "samples");
    found.dropped = count(*table, "dropped");
    found.sm_mhz = number(*table, "sm_mhz");
    found.how = text(*table, "how");
    return found;
  }

  const std::filesystem::path& file_;
  const toml::table& root_;
};

std::string objection_to(const CalibratedPeak& peak, const GpuSpec& gpu) {
  const Quantity& quantity = quantity_named(peak.quantity);
  const auto say = [&](const std::string& what) {
    return fmt::format("{} {}", quantity.title, what);
  };
  if (!std::isfinite(peak.value) || !(peak.value > 0)) {
    return say(fmt::format("is {}, which is no rate", peak.value));
  }
  if (peak.samples < kLeastSamples) {
    return say(fmt::format(
        "has {} samples that count, of at least {}{}", peak.samples, kLeastSamples,
        peak.dropped > 0 ? fmt::format("; the GPU was throttled in {} others", peak.dropped) : ""));
  }
  if (!(peak.spread >= 0) || !(peak.spread <= kMostSpread * peak.value)) {
    return say(fmt::format("has a spread of {:.3g} {} about {:.4g}: something else used the GPU",
                           peak.spread, quantity.unit, peak.value));
  }
  if (is_launch(quantity)) {
    const bool possible = peak.value >= kLeastLaunchUs && peak.value <= kMostLaunchUs;
    return possible ? "" : say(fmt::format("is {:.3g} us, which no GPU takes", peak.value));
  }
  const double sheet = data_sheet_value(gpu, peak.quantity);
  if (sheet <= 0) {
    return std::string(quantity.name).ends_with("_tensor")
               ? say(fmt::format("was measured, and {} has none", gpu.name))
               : "";
  }
  const double clock = !quantity.follows_clock || !std::isfinite(peak.sm_mhz)
                           ? 1
                           : std::clamp(peak.sm_mhz / gpu.clock_mhz, 1.0, kMostOverclock);
  if (peak.value > quantity.most * clock * sheet) {
    return say(fmt::format("is {:.4g} {}, more than the {:.4g} of its data sheet allow", peak.value,
                           quantity.unit, sheet));
  }
  if (peak.value < kLeastShare * sheet) {
    return say(fmt::format(
        "is {:.4g} {}, less than a fifth of the data sheet's {:.4g}: something else used the GPU",
        peak.value, quantity.unit, sheet));
  }
  return "";
}

}  // namespace

const CalibratedPeak* Calibration::find(const std::string& quantity) const {
  const auto found = std::ranges::find(peaks, quantity, &CalibratedPeak::quantity);
  return found == peaks.end() ? nullptr : &*found;
}

const std::vector<Quantity>& quantities() {
  static const std::vector<Quantity> kQuantities = {
      {"dram_read", "DRAM, reading", "GB/s", kGiga, kFewPercent, false},
      {"dram_copy", "DRAM, copying", "GB/s", kGiga, kFewPercent, false},
      {"l2_read", "L2, reading", "GB/s", kGiga, kDerived, true},
      {"l1_read", "L1, reading", "GB/s", kGiga, kFewPercent, true},
      {"shared_read", "shared memory, reading", "GB/s", kGiga, kFewPercent, true},
      {"fp32", "fp32", "TFLOP/s", kTera, kFewPercent, true},
      {"fp16_tensor", "fp16 tensor cores", "TFLOP/s", kTera, kFewPercent, true},
      {"bf16_tensor", "bf16 tensor cores", "TFLOP/s", kTera, kFewPercent, true},
      {"tf32_tensor", "tf32 tensor cores", "TFLOP/s", kTera, kFewPercent, true},
      {"launch", "launch", "us", 1, 0, false},
  };
  return kQuantities;
}

const Quantity& quantity_named(const std::string& name) {
  const auto& known = quantities();
  const auto found = std::ranges::find(known, name, &Quantity::name);
  if (found == known.end()) {
    throw SpecError(fmt::format("there is no quantity {} to calibrate", name));
  }
  return *found;
}

double data_sheet_value(const GpuSpec& gpu, const std::string& quantity) {
  if (quantity == "dram_read" || quantity == "dram_copy") return gpu.dram_bytes_per_second / kGiga;
  if (quantity == "l2_read") return gpu.l2_bytes_per_second / kGiga;
  if (quantity == "shared_read") {
    return gpu.shared_bytes_per_cycle * gpu.sm_count * gpu.clock_mhz * kMega / kGiga;
  }
  if (quantity == "launch") return gpu.launch_overhead_us;
  const auto peak = gpu.peak_flops.find(quantity);
  return peak == gpu.peak_flops.end() ? 0 : peak->second / kTera;
}

std::string objection_to(const Calibration& calibration, const GpuSpec& gpu) {
  if (calibration.gpu != gpu.id) {
    return fmt::format("it is of a GPU called {}, not {}", calibration.gpu, gpu.id);
  }
  if (calibration.kind != "measured" && calibration.kind != "modelled") {
    return fmt::format("its times are \"{}\", neither measured nor modelled", calibration.kind);
  }
  const bool has_dram =
      calibration.find("dram_read") != nullptr || calibration.find("dram_copy") != nullptr;
  if (!has_dram || calibration.find("fp32") == nullptr) {
    return "it lacks the bandwidth of DRAM or the rate of fp32";
  }
  for (const CalibratedPeak& peak : calibration.peaks) {
    if (auto objection = objection_to(peak, gpu); !objection.empty()) return objection;
  }
  return "";
}

GpuSpec with_peaks_of(const GpuSpec& gpu, const Calibration& calibration) {
  GpuSpec result = gpu;
  double dram = 0;
  for (const CalibratedPeak& peak : calibration.peaks) {
    const double value = peak.value * quantity_named(peak.quantity).scale;
    if (peak.quantity.starts_with("dram_")) dram = std::max(dram, value);
    if (peak.quantity == "l2_read") result.l2_bytes_per_second = value;
    if (peak.quantity == "launch") result.launch_overhead_us = value;
    const auto sheet = result.peak_flops.find(peak.quantity);
    if (sheet != result.peak_flops.end()) sheet->second = value;
  }
  if (dram > 0) result.dram_bytes_per_second = dram;
  // What was not measured keeps the data sheet's rate at the clock under load.
  for (auto& [type, flops] : result.peak_flops) {
    if (calibration.find(type) == nullptr) flops /= gpu.slowdown_under_load();
  }
  result.sustained_clock_mhz = 0;
  return result;
}

std::string to_toml(const Calibration& calibration, const GpuSpec& gpu) {
  const auto quoted = [](const std::string& text) {
    std::ostringstream out;
    const toml::value<std::string> value(text);
    out << toml::toml_formatter(value, toml::toml_formatter::default_flags &
                                           ~(toml::format_flags::allow_literal_strings |
                                             toml::format_flags::allow_multi_line_strings));
    return out.str();
  };
  std::string text = fmt::format(
      "# The peaks of a GPU, {} by `grader calibrate`; docs/design/calibration.md says how.\n"
      "schema = {}\n"
      "gpu = {}  # its data sheet: specs/gpus/{}.toml\n"
      "kind = {}\n\n"
      "[machine]\ndevice = {}\nuuid = {}\ndriver = {}\ntool = {}\ndate = {}\n"
      "clocks_watched = {}\n",
      calibration.kind, kSchema, quoted(calibration.gpu), calibration.gpu, quoted(calibration.kind),
      quoted(calibration.device), quoted(calibration.uuid), quoted(calibration.driver),
      quoted(calibration.tool), quoted(calibration.date), calibration.watched);
  for (const CalibratedPeak& peak : calibration.peaks) {
    const double sheet = data_sheet_value(gpu, peak.quantity);
    text += fmt::format(
        "\n[[peak]]\nquantity = {}\nunit = {}\nvalue = {:#.6g}{}\nspread = {:#.3g}\n"
        "samples = {}\ndropped = {}\nsm_mhz = {}\nhow = {}\n",
        quoted(peak.quantity), quoted(quantity_named(peak.quantity).unit), peak.value,
        sheet > 0 ? fmt::format("  # {:.1f} % of the data sheet's {:.6g}", 100 * peak.value / sheet,
                                sheet)
                  : "",
        peak.spread, peak.samples, peak.dropped, peak.sm_mhz, quoted(peak.how));
  }
  return text;
}

Calibration load_calibration(const std::filesystem::path& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  if (error || !std::filesystem::is_regular_file(file, error) || bytes > kMostBytes) {
    throw SpecError(
        fmt::format("{}: no calibration of less than a megabyte is there; run "
                    "grader calibrate",
                    file.string()));
  }
  try {
    const toml::table root = toml::parse_file(file.string());
    return CalibrationReader(file, root).read();
  } catch (const toml::parse_error& failure) {
    throw SpecError(fmt::format("{}:{}: is not valid TOML ({}); calibrate anew", file.string(),
                                static_cast<unsigned>(failure.source().begin.line),
                                failure.description()));
  }
}

std::filesystem::path calibration_file(const std::filesystem::path& directory,
                                       const std::string& gpu, const std::string& uuid) {
  constexpr std::size_t kShort = 8;
  std::string which;
  // "GPU-8c4d1f20-…": what follows the prefix, which MIG devices have another of.
  for (const char c : uuid.substr(uuid.find('-') + 1)) {
    if (which.size() < kShort && std::isxdigit(static_cast<unsigned char>(c)) != 0) which += c;
  }
  return directory / "calibrated" / (gpu + "-" + (which.empty() ? "simulated" : which) + ".toml");
}

std::vector<std::filesystem::path> calibration_files(const std::filesystem::path& directory,
                                                     const std::string& gpu) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory / "calibrated", error), end;
       !error && entry != end; entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    const std::string stem = path.stem().string();
    // Ids may have hyphens themselves: what follows the last one says which GPU.
    if (path.extension() == ".toml" && stem.substr(0, stem.rfind('-')) == gpu) {
      found.push_back(path);
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace gpu_spec

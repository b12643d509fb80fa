#include "specs/gpu_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "specs/driver_names.h"
#include "specs/units.h"

namespace gpu_spec {
namespace {

/// Dense FLOPs that an SM's tensor cores do in a clock, of 16-bit numbers; nothing for a capability
/// that is not known here.
///
/// Sources: the whitepapers of Volta to Blackwell; GPUs whose rate is halved by their drivers or
/// with fp32 sums do less.
std::optional<int> tensor_flops_per_clock(const GpuSpec& spec) {
  switch (spec.compute_capability_major * 10 + spec.compute_capability_minor) {
    case 70:
    case 75:
    case 86:
    case 89:
    case 120:
      return 1024;
    case 80:
      return 2048;
    case 90:
      return 4096;
    case 100:
      return 8192;
    default:
      return std::nullopt;
  }
}

constexpr double kKibi = 1024.0;
constexpr double kMebi = 1024.0 * 1024.0;
constexpr double kGibi = 1024.0 * 1024.0 * 1024.0;

enum class Zero : bool { refused, allowed };
enum class Presence : bool { optional, required };

/// One number of a specification: where it stands in the file and where it goes.
struct Field {
  const char* table;
  const char* key;
  const char* meaning;
  bool whole;  ///< must be an integer
  Zero zero;
  std::function<void(GpuSpec&, double)> set;
  Presence presence = Presence::required;
};

template <typename Member>
auto into(Member GpuSpec::*member, double unit = 1) {
  return [member, unit](GpuSpec& spec, double value) {
    spec.*member = static_cast<Member>(value * unit);
  };
}

const std::vector<Field>& fields() {
  using S = GpuSpec;
  constexpr Zero kNo = Zero::refused;
  static const std::vector<Field> kFields = {
      {"sm", "count", "streaming multiprocessors", true, kNo, into(&S::sm_count)},
      {"sm", "schedulers", "warp schedulers per SM", true, kNo, into(&S::schedulers_per_sm)},
      {"sm", "fp32_lanes", "fp32 lanes per SM", true, kNo, into(&S::fp32_lanes_per_sm)},
      {"sm", "fp64_lanes", "fp64 lanes per SM", true, kNo, into(&S::fp64_lanes_per_sm)},
      {"sm", "int32_lanes", "integer lanes per SM", true, kNo, into(&S::int32_lanes_per_sm)},
      {"sm", "sfu_lanes", "special-function lanes per SM", true, kNo, into(&S::sfu_lanes_per_sm)},
      {"sm", "shared_bytes_per_cycle", "shared-memory bandwidth per SM in bytes per cycle", true,
       kNo, into(&S::shared_bytes_per_cycle), Presence::optional},
      {"sm", "mma_share", "share of the tensor rates that mma.sync reaches", false, kNo,
       into(&S::mma_share), Presence::optional},
      {"clock", "sm_mhz", "boost clock in MHz", false, kNo, into(&S::clock_mhz)},
      {"clock", "sustained_mhz", "clock that the power limit leaves under load, in MHz", false, kNo,
       into(&S::sustained_clock_mhz), Presence::optional},
      {"clock", "memory_mhz", "memory clock in MHz", false, kNo, into(&S::memory_clock_mhz)},
      {"memory", "dram_gb_per_s", "DRAM bandwidth in 10^9 B/s", false, kNo,
       into(&S::dram_bytes_per_second, kGiga)},
      {"memory", "dram_read_share", "share of the DRAM bandwidth that reads reach", false, kNo,
       into(&S::dram_read_share), Presence::optional},
      {"memory", "dram_write_share", "share of the DRAM bandwidth that writes reach", false, kNo,
       into(&S::dram_write_share), Presence::optional},
      {"memory", "dram_sharpness", "exponent that joins DRAM's bandwidth and the latency", false,
       kNo, into(&S::dram_sharpness), Presence::optional},
      {"memory", "l2_gb_per_s", "L2 bandwidth in 10^9 B/s", false, kNo,
       into(&S::l2_bytes_per_second, kGiga)},
      {"memory", "partial_sectors_per_cycle", "sectors filled in part that L2 takes in a cycle",
       false, kNo, into(&S::partial_sectors_per_cycle), Presence::optional},
      {"memory", "pcie_gb_per_s", "host link, one way, in 10^9 B/s", false, kNo,
       into(&S::pcie_bytes_per_second, kGiga)},
      {"memory", "dram_gib", "device memory in GiB", false, kNo, into(&S::dram_bytes, kGibi)},
      {"memory", "l2_mib", "L2 cache in MiB", false, kNo, into(&S::l2_bytes, kMebi)},
      {"memory", "l1_kib_per_sm", "unified L1 and shared memory per SM in KiB", false, kNo,
       into(&S::l1_bytes_per_sm, kKibi)},
      {"limits", "threads_per_sm", "resident threads per SM", true, kNo,
       into(&S::max_threads_per_sm)},
      {"limits", "warps_per_sm", "resident warps per SM", true, kNo, into(&S::max_warps_per_sm)},
      {"limits", "blocks_per_sm", "resident blocks per SM", true, kNo, into(&S::max_blocks_per_sm)},
      {"limits", "threads_per_block", "threads per block", true, kNo,
       into(&S::max_threads_per_block)},
      {"limits", "registers_per_sm", "32-bit registers per SM", true, kNo,
       into(&S::registers_per_sm)},
      {"limits", "registers_per_thread", "registers per thread", true, kNo,
       into(&S::max_registers_per_thread)},
      {"limits", "shared_kib_per_sm", "shared memory per SM in KiB", true, kNo,
       into(&S::shared_bytes_per_sm, kKibi)},
      {"limits", "shared_kib_per_block", "shared memory per block in KiB", true, kNo,
       into(&S::shared_bytes_per_block, kKibi)},
      {"limits", "shared_kib_per_block_optin", "shared memory per block with opt-in in KiB", true,
       kNo, into(&S::shared_bytes_per_block_optin, kKibi)},
      {"limits", "reserved_shared_bytes_per_block", "shared bytes the system takes per block", true,
       Zero::allowed, into(&S::reserved_shared_bytes_per_block)},
      {"latency_cycles", "alu", "dependent arithmetic, cycles", false, kNo, into(&S::alu_latency)},
      {"latency_cycles", "shared", "shared load, cycles", false, kNo, into(&S::shared_latency)},
      {"latency_cycles", "l1", "L1 hit, cycles", false, kNo, into(&S::l1_latency)},
      {"latency_cycles", "l2", "L2 hit, cycles", false, kNo, into(&S::l2_latency)},
      {"latency_cycles", "dram", "DRAM access, cycles", false, kNo, into(&S::dram_latency)},
      {"latency_cycles", "conflict", "bank conflict of a shared load, cycles", false, kNo,
       into(&S::conflict_latency), Presence::optional},
      {"latency_cycles", "tensor", "mma, cycles", false, kNo, into(&S::tensor_latency),
       Presence::optional},
      {"latency_cycles", "atomic", "global atomic that returns a value, cycles", false, kNo,
       into(&S::atomic_latency), Presence::optional},
      {"atomics", "cycles", "cycles of L2 for a request of atomics", false, kNo,
       into(&S::atomic_cycles), Presence::optional},
      {"atomics", "float_cycles", "cycles of L2 for a floating-point atomic on a busy address",
       false, kNo, into(&S::float_atomic_cycles), Presence::optional},
      {"atomics", "address_cycles", "cycles of L2 for a warp's integers on one address", false, kNo,
       into(&S::address_atomic_cycles), Presence::optional},
      {"atomics", "sectors_per_cycle", "sectors that L2 takes atomics for in a cycle", false, kNo,
       into(&S::atomic_sectors_per_cycle), Presence::optional},
      {"launch", "overhead_us", "device time between dependent launches in us", false, kNo,
       into(&S::launch_overhead_us)},
      {"launch", "cycles_per_block", "cycles between the starts of two blocks on one SM", false,
       kNo, into(&S::cycles_per_block), Presence::optional},
  };
  return kFields;
}

const std::vector<std::string>& peak_types() {
  static const std::vector<std::string> kTypes = {"fp32",        "fp64",        "fp16",
                                                  "tf32_tensor", "fp16_tensor", "bf16_tensor"};
  return kTypes;
}

const std::vector<std::string>& required_peak_types() {
  static const std::vector<std::string> kTypes = {"fp32", "fp64", "fp16"};
  return kTypes;
}

/// Reads one parsed file into a GpuSpec. Every complaint goes through fail(), so that all of them
/// name the file, the line, the key and what to do.
class Reader {
 public:
  Reader(std::filesystem::path file, const toml::table& root)
      : file_(std::move(file)), root_(root) {}

  std::vector<std::string> driver_names() const { return texts("driver_names"); }

  GpuSpec read() const {
    refuse_unknown_keys();
    GpuSpec spec;
    spec.id = file_.stem().string();
    spec.name = text("name", "the GPU's name as people say it, name = \"A100 40 GB PCIe\"");
    read_compute_capability(spec);
    for (const Field& field : fields()) {
      const bool left_out = at(field.table, field.key) == nullptr;
      if (left_out && field.presence == Presence::optional) continue;
      field.set(spec, number(field));
    }
    read_peaks(spec);
    spec.sources = texts("sources");
    if (spec.sources.empty()) {
      fail(root_.get("sources"), "sources",
           "has no entry; say where the numbers come from, sources = [\"…\"]");
    }
    for (const std::string& alias : texts("aliases")) {
      if (alias.empty()) fail(root_.get("aliases"), "aliases", "has an empty alias; remove it");
    }
    for (const std::string& name : driver_names()) {
      if (name.empty()) {
        fail(root_.get("driver_names"), "driver_names", "has an empty name; remove it");
      }
    }
    check_consistency(spec);
    return spec;
  }

 private:
  [[noreturn]] void fail(const toml::node* node, const std::string& key,
                         const std::string& what) const {
    const std::string line =
        node != nullptr && node->source().begin.line > 0
            ? fmt::format(":{}", static_cast<unsigned>(node->source().begin.line))
            : "";
    throw SpecError(fmt::format("{}{}: {} {}", file_.string(), line, key, what));
  }

  const toml::node* at(const char* table, const char* key) const {
    const toml::node* const node = root_.get(table);
    if (node == nullptr) return nullptr;
    if (!node->is_table()) {
      fail(node, table, fmt::format("must be a table; write it as [{}]", table));
    }
    return node->as_table()->get(key);
  }

  std::string text(const char* key, const char* remedy) const {
    const toml::node* const node = root_.get(key);
    if (node == nullptr) fail(nullptr, key, fmt::format("is missing; add {}", remedy));
    const auto value = node->value_exact<std::string>();
    if (!value || value->empty())
      fail(node, key, fmt::format("must be a string; write {}", remedy));
    return *value;
  }

  std::vector<std::string> texts(const char* key) const {
    const toml::node* const node = root_.get(key);
    if (node == nullptr) return {};
    if (!node->is_array()) fail(node, key, fmt::format("must be a list, {} = [\"…\"]", key));
    std::vector<std::string> found;
    for (const toml::node& entry : *node->as_array()) {
      const auto value = entry.value_exact<std::string>();
      if (!value) fail(&entry, key, "must hold strings only; put the entry in quotes");
      found.push_back(*value);
    }
    return found;
  }

  double number(const Field& field) const {
    const std::string key = fmt::format("{}.{}", field.table, field.key);
    const toml::node* const node = at(field.table, field.key);
    if (node == nullptr) {
      fail(root_.get(field.table), key,
           fmt::format("is missing; add {} = … ({}) to [{}]", field.key, field.meaning,
                       field.table));
    }
    if (field.whole && !node->is_integer()) {
      fail(node, key, fmt::format("must be a whole number ({})", field.meaning));
    }
    return positive(*node, key, field.meaning, field.zero);
  }

  double positive(const toml::node& node, const std::string& key, const char* meaning,
                  Zero zero) const {
    if (!node.is_number()) fail(&node, key, fmt::format("must be a number ({})", meaning));
    const double value = *node.value<double>();
    const bool good = value > 0 || (zero == Zero::allowed && value == 0);
    if (!good || !std::isfinite(value)) {
      fail(&node, key,
           fmt::format("is {}; {} must be {}", value, meaning,
                       zero == Zero::allowed ? "0 or more" : "more than 0"));
    }
    // Every number fits the integer it may become, in its unit, with room to spare.
    if (value > std::numeric_limits<int>::max() / kKibi) {
      fail(&node, key,
           fmt::format("is {}; {} cannot be that large, check the unit", value, meaning));
    }
    return value;
  }

  void read_compute_capability(GpuSpec& spec) const {
    constexpr const char* kRemedy = "compute_capability = [8, 0]";
    const toml::node* const node = root_.get("compute_capability");
    if (node == nullptr) {
      fail(nullptr, "compute_capability", fmt::format("is missing; add {}", kRemedy));
    }
    const toml::array* const pair = node->as_array();
    if (pair == nullptr || pair->size() != 2 || !pair->get(0)->is_integer() ||
        !pair->get(1)->is_integer()) {
      fail(node, "compute_capability",
           fmt::format("must be major and minor version; write {}", kRemedy));
    }
    const std::int64_t major = **pair->get(0)->as_integer();
    const std::int64_t minor = **pair->get(1)->as_integer();
    if (major < 1 || major > 99 || minor < 0 || minor > 9) {
      fail(node, "compute_capability",
           fmt::format("is [{}, {}], which no GPU has; write {}", major, minor, kRemedy));
    }
    spec.compute_capability_major = static_cast<int>(major);
    spec.compute_capability_minor = static_cast<int>(minor);
  }

  void read_peaks(GpuSpec& spec) const {
    for (const std::string& type : peak_types()) {
      const toml::node* const node = at("peak_tflops", type.c_str());
      const std::string key = "peak_tflops." + type;
      if (node != nullptr) {
        spec.peak_flops[type] =
            positive(*node, key, "peak rate in 10^12 FLOP/s", Zero::refused) * kTera;
      } else if (std::ranges::count(required_peak_types(), type) != 0) {
        fail(root_.get("peak_tflops"), key,
             fmt::format("is missing; add {} = … (peak rate in 10^12 FLOP/s) to [peak_tflops]",
                         type));
      }
    }
  }

  void refuse_unknown_keys() const {
    const std::set<std::string> top = {"name", "aliases", "compute_capability", "driver_names",
                                       "sources"};
    std::map<std::string, std::vector<std::string>> tables;
    for (const Field& field : fields()) tables[field.table].emplace_back(field.key);
    tables["peak_tflops"] = peak_types();
    for (const auto& [key, node] : root_) {
      const std::string name(key.str());
      if (top.contains(name)) continue;
      const auto table = tables.find(name);
      if (table == tables.end()) {
        fail(&node, name,
             fmt::format("is not a known key; remove it, or use one of {}, {}",
                         fmt::join(top, ", "), fmt::join(names(tables), ", ")));
      }
      if (!node.is_table()) {
        fail(&node, name, fmt::format("must be a table; write it as [{}]", name));
      }
      for (const auto& [inner, value] : *node.as_table()) {
        const std::string inner_name(inner.str());
        if (std::ranges::count(table->second, inner_name) == 0) {
          fail(&value, fmt::format("{}.{}", name, inner_name),
               fmt::format("is not a known key; remove it, or use one of {}",
                           fmt::join(table->second, ", ")));
        }
      }
    }
  }

  static std::vector<std::string> names(
      const std::map<std::string, std::vector<std::string>>& tables) {
    std::vector<std::string> all;
    all.reserve(tables.size());
    for (const auto& [name, keys] : tables) all.push_back(fmt::format("[{}]", name));
    return all;
  }

  void check_share(const char* table, const char* key, double value) const {
    if (value <= 1) return;
    fail(at(table, key), fmt::format("{}.{}", table, key),
         fmt::format("is {}, more than all of it; write a share from 0 to 1", value));
  }

  /// Data sheets print rates "with sparsity", which no dense product reaches.
  void check_tensor_rates(const GpuSpec& spec) const {
    const std::optional<int> most = tensor_flops_per_clock(spec);
    if (!most) return;
    for (const auto& [type, share] : {std::pair("fp16_tensor", 1.0), std::pair("bf16_tensor", 1.0),
                                      std::pair("tf32_tensor", 0.5)}) {
      const auto stated = spec.peak_flops.find(type);
      if (stated == spec.peak_flops.end()) continue;
      const double cores = share * *most * spec.sm_count * spec.clock_mhz * kMega;
      if (stated->second <= 1.05 * cores) continue;
      fail(at("peak_tflops", type), fmt::format("peak_tflops.{}", type),
           fmt::format("is {:.1f}, but tensor cores of capability {}.{} do at most {:.0f} dense "
                       "FLOPs a clock and SM, which is {:.1f}; a rate \"with sparsity\" has to be "
                       "divided by two",
                       stated->second / kTera, spec.compute_capability_major,
                       spec.compute_capability_minor, share * *most, cores / kTera));
    }
  }

  /// Numbers that contradict each other are a slip in the file, most often in a unit.
  void check_consistency(const GpuSpec& spec) const {
    const double cores = 2.0 * spec.sm_count * spec.fp32_lanes_per_sm * spec.clock_mhz * kMega;
    const double stated = spec.peak_flops.at("fp32");
    if (std::abs(stated - cores) > 0.05 * cores) {
      fail(at("peak_tflops", "fp32"), "peak_tflops.fp32",
           fmt::format(
               "is {:.1f}, but SMs x lanes x 2 x clock gives {:.1f}; correct the one that is "
               "wrong",
               stated / kTera, cores / kTera));
    }
    check_tensor_rates(spec);
    if (spec.sustained_clock_mhz > spec.clock_mhz) {
      fail(at("clock", "sustained_mhz"), "clock.sustained_mhz",
           fmt::format("is {}, above the boost clock of {}; correct the one that is wrong",
                       spec.sustained_clock_mhz, spec.clock_mhz));
    }
    check_share("sm", "mma_share", spec.mma_share);
    check_share("memory", "dram_read_share", spec.dram_read_share);
    check_share("memory", "dram_write_share", spec.dram_write_share);
    if (spec.dram_sharpness < 1) {
      fail(at("memory", "dram_sharpness"), "memory.dram_sharpness",
           fmt::format("is {}; an exponent below 1 would add more than both times; take 1 to 4",
                       spec.dram_sharpness));
    }
    if (spec.max_threads_per_sm != 32 * spec.max_warps_per_sm) {
      fail(at("limits", "threads_per_sm"), "limits.threads_per_sm",
           fmt::format("is {}, but {} warps of 32 threads are {}; correct the one that is wrong",
                       spec.max_threads_per_sm, spec.max_warps_per_sm, 32 * spec.max_warps_per_sm));
    }
    if (spec.shared_bytes_per_block_optin > spec.shared_bytes_per_sm ||
        spec.shared_bytes_per_sm > spec.l1_bytes_per_sm) {
      fail(at("limits", "shared_kib_per_sm"), "limits.shared_kib_per_sm",
           "must lie between shared_kib_per_block_optin and memory.l1_kib_per_sm; correct the one "
           "that is wrong");
    }
  }

  std::filesystem::path file_;
  const toml::table& root_;
};

toml::table parse(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    throw SpecError(fmt::format("{}: no such file; give the path of a GPU specification (*.toml)",
                                file.string()));
  }
  try {
    return toml::parse_file(file.string());
  } catch (const toml::parse_error& failure) {
    throw SpecError(fmt::format("{}:{}: is not valid TOML ({}); correct that line", file.string(),
                                static_cast<unsigned>(failure.source().begin.line),
                                failure.description()));
  }
}

/// The aliases a file declares, without judging the rest of it.
std::vector<std::string> aliases_of(const toml::table& root) {
  std::vector<std::string> found;
  const toml::array* const aliases = root["aliases"].as_array();
  if (aliases == nullptr) return found;
  for (const toml::node& entry : *aliases) {
    if (const auto alias = entry.value<std::string>()) found.push_back(*alias);
  }
  return found;
}

}  // namespace

double GpuSpec::ridge_point(const std::string& type) const {
  const auto found = peak_flops.find(type);
  if (found == peak_flops.end()) {
    throw SpecError(fmt::format("{} has no peak rate for type {}", name, type));
  }
  return found->second / dram_bytes_per_second;
}

GpuSpec load(const std::filesystem::path& file) {
  const toml::table root = parse(file);
  return Reader(file, root).read();
}

std::vector<std::string> driver_names(const std::filesystem::path& directory,
                                      const std::string& id) {
  const std::filesystem::path file = directory / (id + ".toml");
  const toml::table root = parse(file);
  return Reader(file, root).driver_names();
}

GpuSpec find(const std::filesystem::path& directory, const std::string& id) {
  const std::vector<std::string> ids = list(directory);
  if (std::ranges::count(ids, id) != 0) return load(directory / (id + ".toml"));
  for (const std::string& candidate : ids) {
    const std::filesystem::path file = directory / (candidate + ".toml");
    if (std::ranges::count(aliases_of(parse(file)), id) != 0) return load(file);
  }
  throw SpecError(fmt::format("no GPU is called \"{}\"; {} has {}", id, directory.string(),
                              fmt::join(ids, ", ")));
}

std::vector<std::string> list(const std::filesystem::path& directory) {
  std::error_code error;
  std::vector<std::string> ids;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".toml") ids.push_back(entry.path().stem().string());
  }
  if (error || ids.empty()) {
    throw SpecError(
        fmt::format("{}: no GPU specifications (*.toml) there; give the directory "
                    "specs/gpus of the source tree",
                    directory.string()));
  }
  std::ranges::sort(ids);
  return ids;
}

}  // namespace gpu_spec

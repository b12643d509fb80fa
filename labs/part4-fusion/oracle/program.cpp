#include "labs/part4-fusion/oracle/program.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

namespace rooflab {
namespace {

/// Walks over a program and keeps, for every array, which kernel has made it.
class TrafficCounter {
 public:
  TrafficCounter(const EstimatedProgram& program, const TrafficRule& rule)
      : program_(program), rule_(rule) {
    for (const ProgramOperation& operation : program.operations) {
      for (const std::string& read : operation.reads) {
        last_reader_[read] = std::max(last_reader_[read], operation.kernel);
      }
    }
  }

  std::vector<KernelTotals> count() {
    std::vector<KernelTotals> totals(static_cast<std::size_t>(program_.kernels()));
    for (const ProgramOperation& operation : program_.operations) {
      KernelTotals& kernel = totals.at(static_cast<std::size_t>(operation.kernel));
      kernel.matmul_flops += operation.matmul_flops;
      kernel.pointwise_flops += operation.pointwise_flops;
      for (const std::string& read : operation.reads) {
        const double bytes = read_bytes(operation, read);
        kernel.read[read] += bytes;
        kernel.bytes += bytes;
      }
      const double bytes = written_bytes(operation);
      kernel.written[operation.writes] += bytes;
      kernel.bytes += bytes;
      maker_[operation.writes] = operation.kernel;
    }
    return totals;
  }

 private:
  double bytes(const std::string& array) const { return program_.find(array)->bytes; }

  double read_bytes(const ProgramOperation& operation, const std::string& array) {
    const auto maker = maker_.find(array);
    const bool made = maker != maker_.end();
    if (made && maker->second == operation.kernel && !rule_.reads_own_arrays) return 0;
    const bool first_of_operation = seen_by_operation_.emplace(&operation, array).second;
    const bool first_of_kernel = seen_.emplace(operation.kernel, array).second;
    const bool is_read = first_of_kernel || rule_.each_use_reads ||
                         (first_of_operation && rule_.each_operation_reads);
    if (!is_read) return 0;
    if (made && rule_.skips_reads_of_intermediates) return 0;
    if (made && is_in_l2(maker->second, operation.kernel, bytes(array))) return 0;
    return bytes(array);
  }

  double written_bytes(const ProgramOperation& operation) const {
    const ProgramArray& array = *program_.find(operation.writes);
    if (array.role == "output") return rule_.skips_outputs ? 0 : array.bytes;
    const auto reader = last_reader_.find(array.name);
    const bool is_needed = reader != last_reader_.end() && reader->second > operation.kernel;
    if (!is_needed) return rule_.writes_intermediates ? array.bytes : 0;
    if (rule_.skips_intermediates) return 0;
    if (rule_.l2_saves_writes && array.bytes <= rule_.l2_bytes) return 0;
    return array.bytes;
  }

  bool is_in_l2(int maker, int reader, double bytes) const {
    if (rule_.l2_bytes <= 0) return false;
    if (bytes > rule_.l2_bytes && !rule_.l2_ignores_size) return false;
    return rule_.l2_at_any_distance || maker + 1 == reader;
  }

  const EstimatedProgram& program_;
  const TrafficRule& rule_;
  std::map<std::string, int> maker_, last_reader_;
  std::set<std::pair<int, std::string>> seen_;  // by a kernel
  std::set<std::pair<const ProgramOperation*, std::string>> seen_by_operation_;
};

[[noreturn]] void refuse(const std::string& line, const char* reason) {
  throw std::invalid_argument("a line of `program` " + std::string(reason) + ": " + line);
}

ProgramArray parse_array(std::istringstream& words, const std::string& line) {
  ProgramArray array;
  if (!(words >> array.role >> array.name >> array.bytes)) {
    refuse(line, "is not: array <role> <name> <bytes>");
  }
  if (array.role != "input" && array.role != "intermediate" && array.role != "output") {
    refuse(line, "has another role than input, intermediate and output");
  }
  return array;
}

ProgramOperation parse_operation(std::istringstream& words, const std::string& line,
                                 const EstimatedProgram& program) {
  ProgramOperation operation;
  if (!(words >> operation.kernel >> operation.name >> operation.matmul_flops >>
        operation.pointwise_flops >> operation.writes)) {
    refuse(line,
           "is not: operation <kernel> <name> <matmul FLOPs> <pointwise FLOPs> <written array> "
           "<read arrays>");
  }
  for (std::string array; words >> array;) operation.reads.push_back(array);
  std::vector<std::string> named = operation.reads;
  named.push_back(operation.writes);
  for (const std::string& array : named) {
    if (program.find(array) == nullptr) refuse(line, "names an array that no line before has");
  }
  const int next = program.kernels();
  if (operation.kernel < 0 || (operation.kernel != next && operation.kernel != next - 1)) {
    refuse(line, "has a kernel that is not numbered in order");
  }
  return operation;
}

}  // namespace

int EstimatedProgram::kernels() const {
  return operations.empty() ? 0 : operations.back().kernel + 1;
}

const ProgramArray* EstimatedProgram::find(const std::string& name) const {
  const auto found = std::ranges::find(arrays, name, &ProgramArray::name);
  return found == arrays.end() ? nullptr : &*found;
}

EstimatedProgram parse_program(const std::string& text) {
  EstimatedProgram program;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    if (!(words >> kind)) continue;
    if (kind == "array") {
      program.arrays.push_back(parse_array(words, line));
    } else if (kind == "operation") {
      program.operations.push_back(parse_operation(words, line, program));
    } else {
      refuse(line, "is neither an array nor an operation");
    }
  }
  return program;
}

EstimatedProgram mlp_program(const MlpSizes& sizes, MlpFusion fusion) {
  // Kernels in the order of: gate product, up product, activation, multiplication, down product.
  constexpr std::array<std::array<int, 5>, 4> kKernels = {
      {{0, 1, 2, 3, 4}, {0, 1, 2, 2, 3}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0}}};
  const std::array<int, 5>& kernel = kKernels.at(static_cast<std::size_t>(fusion));
  const auto b = static_cast<double>(sizes.tokens);
  const auto d = static_cast<double>(sizes.hidden);
  const auto f = static_cast<double>(sizes.intermediate);
  const auto e = static_cast<double>(sizes.bytes_per_element);
  EstimatedProgram program;
  program.arrays = {{"x", "input", b * d * e},        {"wg", "input", d * f * e},
                    {"wu", "input", d * f * e},       {"wd", "input", f * d * e},
                    {"g", "intermediate", b * f * e}, {"u", "intermediate", b * f * e},
                    {"a", "intermediate", b * f * e}, {"p", "intermediate", b * f * e},
                    {"out", "output", b * d * e}};
  program.operations = {
      {"gate", 2 * b * d * f, 0, {"x", "wg"}, "g", kernel[0]},
      {"up", 2 * b * d * f, 0, {"x", "wu"}, "u", kernel[1]},
      {"activation", 0, b * f * static_cast<double>(sizes.activation_flops), {"g"}, "a", kernel[2]},
      {"product", 0, b * f, {"a", "u"}, "p", kernel[3]},
      {"down", 2 * b * d * f, 0, {"p", "wd"}, "out", kernel[4]}};
  return program;
}

std::vector<KernelTotals> totals_of(const EstimatedProgram& program, const TrafficRule& rule) {
  return TrafficCounter(program, rule).count();
}

std::string EstimatedTimes::bound() const {
  std::string name = "tensor_cores";
  double longest = tensor;
  const auto challenge = [&](const char* other, double seconds) {
    if (!(seconds > longest)) return;
    name = other;
    longest = seconds;
  };
  challenge("cuda_cores", cuda);
  challenge("memory", memory);
  challenge("launches", idle);
  return name;
}

EstimatedTimes times_of(const EstimatedProgram& program, const EstimatedMachine& machine,
                        const TimeRule& rule) {
  TrafficRule traffic = rule.traffic;
  traffic.l2_bytes = machine.l2_bytes;
  const double tensor_peak =
      rule.tensor_on_cuda_cores ? machine.cuda_flops_per_second : machine.tensor_flops_per_second;
  EstimatedTimes sum;
  std::vector<double> busy;  // of each kernel
  for (const KernelTotals& kernel : totals_of(program, traffic)) {
    const double tensor = kernel.matmul_flops / tensor_peak;
    const double cuda = kernel.pointwise_flops / machine.cuda_flops_per_second;
    const double memory = kernel.bytes / machine.bytes_per_second;
    sum.tensor += tensor;
    sum.cuda += cuda;
    sum.memory += memory;
    busy.push_back(rule.adds_terms ? tensor + cuda + memory : std::max({tensor, cuda, memory}));
  }
  // The end of the last kernel is the longest of all chains: wait for launch k, then run k and all
  // that follow.
  const double launch = machine.seconds_per_launch;
  double following = 0;
  double end = 0;
  for (std::size_t k = busy.size(); k-- > 0;) {
    following += busy[k];
    const double issued = static_cast<double>(rule.first_launch_free ? k : k + 1) * launch;
    end = std::max(end, issued + following);
  }
  sum.busy = rule.one_longest_term ? std::max({sum.tensor, sum.cuda, sum.memory}) : following;
  sum.idle = rule.adds_launches ? static_cast<double>(busy.size()) * launch
                                : std::max(0.0, end - following);
  return sum;
}

}  // namespace rooflab

#include "simgpu/fatbin/spills.h"

#include <algorithm>
#include <unordered_map>

#include "simgpu/fatbin/byte_reader.h"
#include "simgpu/fatbin/elf.h"
#include "simgpu/fatbin/line_table.h"

// .nv.info.<kernel> lists the places of the kernel's spills among its annotations. Number and
// layout of that attribute, and the words of the instructions, were checked against what nvdisasm
// and ptxas -v print for sm_75 to sm_120.
namespace simgpu::fatbin {
namespace {

constexpr std::string_view kInfoPrefix = ".nv.info.";
constexpr std::string_view kCodePrefix = ".text.";
constexpr unsigned kAttributeAnnotations = 0x55;
constexpr std::uint32_t kAnnotationSpill = 1;
constexpr std::uint64_t kInstructionBytes = 16;
constexpr std::uint64_t kOpcodeMask = 0xFFF;
constexpr std::uint64_t kLoadLocal = 0x983, kStoreLocal = 0x387;

/// Where in the kernel's code its spills are.
std::vector<std::uint32_t> places_of_spills(std::span<const std::byte> info) {
  constexpr std::string_view kWhat = "an attribute of the cubin";
  std::vector<std::uint32_t> places;
  for_each_attribute(info, [&](unsigned attribute, std::span<const std::byte> payload) {
    if (attribute != kAttributeAnnotations) return;
    for (std::uint64_t at = 0; at + 8 <= payload.size(); at += 8) {
      if (read_integer<std::uint32_t>(payload, at, kWhat) != kAnnotationSpill) continue;
      places.push_back(read_integer<std::uint32_t>(payload, at + 4, kWhat));
    }
  });
  std::ranges::sort(places);
  return places;
}

/// The machine code of one line of PTX.
struct LineCode {
  Spills spills;
  std::unordered_map<std::uint64_t, unsigned> others;  ///< how often each opcode is in it

  unsigned rarest() const {
    if (others.empty()) return 1;
    const auto fewest =
        std::ranges::min_element(others, {}, [](const auto& entry) { return entry.second; });
    return fewest->second;
  }
};

/// Words of 4 bytes that a load or a store of local memory moves.
double words_of(std::uint64_t upper_half) {
  const auto width = static_cast<unsigned>(upper_half >> 9U & 7U);  // 4, 5, 6: 32 to 128 bits
  return width <= 4 ? 1 : width == 5 ? 2 : 4;
}

std::vector<Spills> spills_of(std::span<const std::byte> code, const LineRows& rows,
                              const std::vector<std::uint32_t>& places) {
  constexpr std::string_view kWhat = "the cubin's code";
  std::map<std::uint32_t, LineCode> lines;
  for (std::uint64_t at = 0; at + kInstructionBytes <= code.size(); at += kInstructionBytes) {
    const std::uint64_t opcode = read_integer<std::uint64_t>(code, at, kWhat) & kOpcodeMask;
    LineCode& line = lines[line_at(rows, at)];
    if (!std::ranges::binary_search(places, at)) {
      ++line.others[opcode];
      continue;
    }
    const double words = words_of(read_integer<std::uint64_t>(code, at + 8, kWhat));
    if (opcode == kLoadLocal) {
      ++line.spills.loads;
      line.spills.load_words += words;
    } else if (opcode == kStoreLocal) {
      ++line.spills.stores;
      line.spills.store_words += words;
    }
  }
  std::vector<Spills> all;
  for (auto& [number, line] : lines) {
    line.spills.ptx_line = number;
    line.spills.alike = line.rarest();
    all.push_back(line.spills);
  }
  return all;
}

}  // namespace

std::map<std::string, std::vector<Spills>> read_spills(std::span<const std::byte> elf) {
  const std::vector<Section> sections = read_sections(elf);
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> places;
  for (const Section& section : sections) {
    if (!section.name.starts_with(kInfoPrefix)) continue;
    std::vector<std::uint32_t> of_kernel = places_of_spills(section.contents);
    if (!of_kernel.empty()) places[section.name.substr(kInfoPrefix.size())] = std::move(of_kernel);
  }
  std::map<std::string, std::vector<Spills>> spills;
  if (places.empty()) return spills;
  const std::map<std::size_t, LineRows> rows = read_ptx_lines(sections);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (!sections[i].name.starts_with(kCodePrefix)) continue;
    const std::string_view kernel = sections[i].name.substr(kCodePrefix.size());
    const auto of_kernel = places.find(kernel);
    if (of_kernel == places.end()) continue;
    const auto lines = rows.find(i);
    spills[std::string(kernel)] = spills_of(
        sections[i].contents, lines == rows.end() ? LineRows{} : lines->second, of_kernel->second);
    places.erase(of_kernel);
  }
  return spills;
}

}  // namespace simgpu::fatbin

#include "simgpu/host_code/host_lines.h"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "simgpu/host_code/build_id.h"

namespace simgpu::host_code {
namespace {

struct Place {
  std::string file;
  std::uint32_t line = 0;
};
/// What an address is in, innermost first: the functions that were inlined there.
using Places = std::vector<Place>;

template <typename T>
std::optional<T> read_at(std::ifstream& file, std::uint64_t offset) {
  T value{};
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(&value), sizeof value);
  return file ? std::optional(value) : std::nullopt;
}

/// A line of addr2line: "/src/k.cu:12 (discriminator 3)", or "??:0".
std::optional<Place> place_in(std::string_view line) {
  line = line.substr(0, line.find(" (discriminator"));
  const std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos || line.starts_with("??")) return std::nullopt;
  Place place{std::string(line.substr(0, colon)), 0};
  const std::string_view number = line.substr(colon + 1);
  std::from_chars(number.data(), number.data() + number.size(), place.line);
  return place.line == 0 ? std::nullopt : std::optional(place);
}

std::string hexadecimal(std::uint64_t address) {
  std::ostringstream text;
  text << "0x" << std::hex << address;
  return text.str();
}

/// The places of addresses in one file. addr2line -a prints each address before its places.
std::map<std::uint64_t, Places> places_in(const std::filesystem::path& file,
                                          const std::set<std::uint64_t>& addresses,
                                          const RunTool& run) {
  constexpr std::size_t kMostAddresses = 1024;
  constexpr std::size_t kMostPlaces = 16;
  std::vector<std::string> command{"addr2line", "-a", "-i", "-e", file.string()};
  for (const std::uint64_t address : addresses) {
    if (command.size() > kMostAddresses) break;
    command.push_back(hexadecimal(address));
  }
  std::istringstream output(run(command));
  std::map<std::uint64_t, Places> found;
  Places* places = nullptr;
  for (std::string line; std::getline(output, line);) {
    std::uint64_t address = 0;
    const bool is_address = line.starts_with("0x");
    if (is_address) {
      std::from_chars(line.data() + 2, line.data() + line.size(), address, 16);
      places = addresses.contains(address) ? &found[address] : nullptr;
    } else if (auto place = place_in(line); place && places != nullptr) {
      if (places->size() < kMostPlaces) places->push_back(std::move(*place));
    }
  }
  return found;
}

/// Every site of an activity, with the finding that it belongs to; null for the call that failed.
void each_site(Activity& activity, const auto& visit) {
  for (Finding& finding : activity.findings) {
    visit(finding.where, &finding);
    if (finding.other) visit(*finding.other, &finding);
  }
  if (activity.failed_call) visit(activity.failed_call->where, nullptr);
}

using KnownPlaces = std::map<std::pair<std::uint64_t, std::uint64_t>, Places>;

std::optional<Place> own_place(const AccessSite& site, const KnownPlaces& known,
                               const IsOwn& is_own) {
  for (const HostFrame& frame : site.called_from) {
    const auto places = known.find({frame.module, frame.address});
    if (places == known.end()) continue;
    const auto own = std::ranges::find_if(places->second,
                                          [&](const Place& place) { return is_own(place.file); });
    if (own != places->second.end()) return *own;
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t build_id_of(const std::filesystem::path& file) {
  constexpr std::uint64_t kMostNotes = 1U << 16;
  constexpr std::uint16_t kMostParts = 256;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return 0;
  std::ifstream stream(file, std::ios::binary);
  const auto header = read_at<Elf64_Ehdr>(stream, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return 0;
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(Elf64_Phdr)) {
    return 0;
  }
  for (std::uint16_t i = 0; i < std::min(header->e_phnum, kMostParts); ++i) {
    const auto part = read_at<Elf64_Phdr>(stream, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!part) return 0;
    if (part->p_type != PT_NOTE || part->p_filesz > kMostNotes) continue;
    std::vector<std::byte> notes(part->p_filesz);
    stream.seekg(static_cast<std::streamoff>(part->p_offset));
    stream.read(reinterpret_cast<char*>(notes.data()), static_cast<std::streamsize>(notes.size()));
    if (!stream) return 0;
    if (const std::uint64_t id = build_id_in(notes); id != 0) return id;
  }
  return 0;
}

void name_host_lines(Activity& activity, const std::vector<std::filesystem::path>& files,
                     const RunTool& run, const IsOwn& is_own) {
  std::map<std::uint64_t, std::set<std::uint64_t>> wanted;
  each_site(activity, [&](const AccessSite& site, const Finding*) {
    for (const HostFrame& frame : site.called_from) wanted[frame.module].insert(frame.address);
  });
  if (wanted.empty()) return;
  KnownPlaces known;
  for (const std::filesystem::path& file : files) {
    const std::uint64_t module = build_id_of(file);
    const auto addresses = wanted.find(module);
    if (module == 0 || addresses == wanted.end()) continue;
    for (auto& [address, places] : places_in(file, addresses->second, run)) {
      known[{module, address}] = std::move(places);
    }
    wanted.erase(addresses);
  }
  each_site(activity, [&](AccessSite& site, Finding* finding) {
    const auto place = own_place(site, known, is_own);
    if (!place) return;
    if (site.line == 0) {
      site.file = place->file;
      site.line = place->line;
    } else if (finding != nullptr) {
      finding->also.push_back({place->file, place->line, "launched here"});
    }
  });
}

}  // namespace simgpu::host_code

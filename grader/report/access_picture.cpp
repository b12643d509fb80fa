#include "grader/report/access_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace rooflab {
namespace {

constexpr unsigned kLanes = 32;
constexpr std::uint64_t kSectorBytes = 32, kLineSectors = 4;
constexpr std::uint64_t kWordBytes = 4, kBanks = 32;
constexpr double kPictureWidth = 640, kLaneY = 14, kMemoryY = 92, kPictureHeight = 122;

/// What a lane touches first: the number of a sector, or of a word.
std::uint64_t unit_of(const simgpu::AccessPicture& picture, unsigned lane) {
  return picture.offsets[lane] / (picture.is_shared ? kWordBytes : kSectorBytes);
}

bool takes_part(const simgpu::AccessPicture& picture, unsigned lane) {
  return lane < picture.offsets.size() && (picture.mask >> lane & 1U) != 0;
}

/// A box of memory: where it is drawn, what it is called, how often it has to be asked.
struct Box {
  double x = 0;
  std::string name;
  std::uint64_t turns = 1;
};

/// By unit: boxes side by side, with a gap between 128-byte lines of global memory.
std::map<std::uint64_t, Box> boxes_of_sectors(const simgpu::AccessPicture& picture, double& width) {
  std::set<std::uint64_t> sectors;
  const std::uint64_t more = std::max<std::uint64_t>(picture.bytes, 1) - 1;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!takes_part(picture, lane)) continue;
    for (std::uint64_t at = picture.offsets[lane] / kSectorBytes;
         at <= (picture.offsets[lane] + more) / kSectorBytes; ++at) {
      sectors.insert(at);
    }
  }
  std::set<std::uint64_t> lines;
  for (const std::uint64_t sector : sectors) lines.insert(sector / kLineSectors);
  constexpr double kGap = 0.6;
  const double places =
      static_cast<double>(sectors.size()) + kGap * static_cast<double>(lines.size());
  width = std::min(20.0, kPictureWidth / std::max(places, 1.0));
  std::map<std::uint64_t, Box> boxes;
  double x = 0;
  std::uint64_t line = ~std::uint64_t{0};
  for (const std::uint64_t sector : sectors) {
    if (sector / kLineSectors != line && line != ~std::uint64_t{0}) x += kGap * width;
    line = sector / kLineSectors;
    boxes[sector] = {x, fmt::format("bytes {} to {}", sector * kSectorBytes,
                                    sector * kSectorBytes + kSectorBytes - 1)};
    x += width;
  }
  return boxes;
}

std::map<std::uint64_t, Box> boxes_of_banks(const simgpu::AccessPicture& picture, double& width) {
  width = kPictureWidth / static_cast<double>(kBanks);
  std::map<std::uint64_t, std::set<std::uint64_t>> words;
  const std::uint64_t more = std::max<std::uint64_t>(picture.bytes, 1) - 1;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!takes_part(picture, lane)) continue;
    for (std::uint64_t word = unit_of(picture, lane);
         word <= (picture.offsets[lane] + more) / kWordBytes; ++word) {
      words[word % kBanks].insert(word);
    }
  }
  std::map<std::uint64_t, Box> boxes;
  for (std::uint64_t bank = 0; bank < kBanks; ++bank) {
    const std::uint64_t turns = words.contains(bank) ? words[bank].size() : 0;
    boxes[bank] = {width * static_cast<double>(bank),
                   fmt::format("bank {}: {} different words", bank, turns), turns};
  }
  return boxes;
}

}  // namespace

std::string access_words(const simgpu::AccessPicture& picture) {
  const int lanes = std::popcount(picture.mask);
  const char* const plural = lanes == 1 ? "lane" : "lanes";
  const std::string who = fmt::format("block {}, warp {}: {} {}, {} bytes each", picture.block,
                                      picture.warp, lanes, plural, picture.bytes);
  if (picture.is_shared) {
    return fmt::format("{}, take {} wavefronts of shared memory; {} without conflicts", who,
                       picture.transactions, picture.fewest);
  }
  return fmt::format("{}, touch {} sectors of 32 bytes; {} would hold what they ask for", who,
                     picture.transactions, picture.fewest);
}

std::string access_svg(const simgpu::AccessPicture& picture) {
  double width = 0;
  const std::map<std::uint64_t, Box> boxes =
      picture.is_shared ? boxes_of_banks(picture, width) : boxes_of_sectors(picture, width);
  const double lane_width = kPictureWidth / kLanes;
  std::string svg =
      fmt::format(R"(<svg class="access" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">)",
                  kPictureWidth, kPictureHeight, access_words(picture));
  svg += fmt::format(R"(<text x="0" y="9">lanes 0 to 31</text><text x="0" y="{:.0f}">{}</text>)",
                     kPictureHeight - 2,
                     picture.is_shared ? "banks 0 to 31; dark: several words, one after the other"
                                       : "sectors of 32 bytes, four to a line of 128");
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const bool active = takes_part(picture, lane);
    const double x = lane_width * lane;
    svg += fmt::format(
        R"(<rect class="{}" x="{:.1f}" y="{:.0f}" width="{:.1f}" height="10"><title>lane {}</title></rect>)",
        active ? "lane" : "idle", x + 1, kLaneY, lane_width - 2, lane);
    if (!active) continue;
    const std::uint64_t unit = unit_of(picture, lane);
    const auto box = boxes.find(picture.is_shared ? unit % kBanks : unit);
    if (box == boxes.end()) continue;
    svg += fmt::format(R"(<line x1="{:.1f}" y1="{:.0f}" x2="{:.1f}" y2="{:.0f}"/>)",
                       x + lane_width / 2, kLaneY + 10, box->second.x + width / 2, kMemoryY);
  }
  for (const auto& [unit, box] : boxes) {
    const char* const kind = box.turns == 0 ? "idle" : box.turns > 1 ? "conflict" : "sector";
    svg += fmt::format(
        R"(<rect class="{}" x="{:.1f}" y="{:.0f}" width="{:.1f}" height="14"><title>{}</title></rect>)",
        kind, box.x + 0.5, kMemoryY, std::max(width - 1, 0.5), box.name);
  }
  return svg + "</svg>";
}

}  // namespace rooflab

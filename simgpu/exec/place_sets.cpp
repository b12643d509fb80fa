#include "simgpu/exec/place_sets.h"

namespace simgpu {
namespace {

using Kind = TrafficEntry::Kind;

/// Of one launch. Who splits a matrix into tiles has a stretch for each row.
constexpr std::size_t kMostRanges = std::size_t{1} << 16;

}  // namespace

bool PlaceSets::is_read(Kind kind) {
  return kind == Kind::load || kind == Kind::touch || kind == Kind::strong_load;
}

bool PlaceSets::is_plain_write(Kind kind) {
  return kind == Kind::store || kind == Kind::strong_store;
}

bool PlaceSets::is_update(Kind kind) { return kind == Kind::atomic; }

void PlaceSets::add(const TrafficLog& log) {
  if (log.unlogged_reads + log.unlogged_writes != 0) read_.give_up();
  read_.add(log, is_read);
  written_.add(log, is_plain_write);
  updated_.add(log, is_update);
}

std::shared_ptr<const TouchedPlaces> PlaceSets::take() {
  auto places = std::make_shared<TouchedPlaces>();
  *places = {.read = read_.ranges(kMostRanges),
             .written = written_.ranges(kMostRanges),
             .updated = updated_.ranges(kMostRanges)};
  const bool known = read_.is_complete() && written_.is_complete() && updated_.is_complete();
  return known ? places : nullptr;
}

}  // namespace simgpu

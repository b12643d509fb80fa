#include "simgpu/device/origins_wire.h"

#include <cstdint>
#include <map>
#include <string>

#include "simgpu/device/wire.h"

namespace simgpu {
namespace {

constexpr std::size_t kMostName = 4096;

/// Names of files, each of which is sent once.
class Names {
 public:
  std::uint32_t number_of(const std::string& name) {
    const auto [known, is_new] =
        numbers_.emplace(name.substr(0, kMostName), static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(known->first);
    return known->second;
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

const std::string& name_at(const std::vector<std::string>& names, std::uint32_t number) {
  if (number >= names.size()) throw wire::MessageError("a file without a name");
  return names[number];
}

void put(wire::Writer& writer, const OriginRead& read, Names& names) {
  writer.put(read.address);
  writer.put(read.bytes);
  writer.put(read.times);
  writer.put(names.number_of(read.file));
  writer.put(read.line);
  writer.put(read.block);
  writer.put(read.thread);
}

OriginRead read_from(wire::Reader& reader, const std::vector<std::string>& names) {
  OriginRead read;
  read.address = reader.get<std::uint64_t>();
  read.bytes = reader.get<std::uint32_t>();
  read.times = reader.get<std::uint64_t>();
  read.file = name_at(names, reader.get<std::uint32_t>());
  read.line = reader.get<std::uint32_t>();
  read.block = reader.get<Dim3>();
  read.thread = reader.get<Dim3>();
  return read;
}

MemoryOrigin origin_from(wire::Reader& reader, const std::vector<std::string>& names) {
  MemoryOrigin origin;
  origin.stores = reader.get<std::uint64_t>();
  origin.file = name_at(names, reader.get<std::uint32_t>());
  origin.line = reader.get<std::uint32_t>();
  origin.block = reader.get<Dim3>();
  origin.thread = reader.get<Dim3>();
  origin.complete = reader.get<std::uint8_t>() != 0;
  // One at a time: a count is believed as far as its reads are there.
  for (auto left = reader.get<std::uint32_t>(); left != 0; --left) {
    origin.reads.push_back(read_from(reader, names));
  }
  return origin;
}

}  // namespace

std::vector<std::byte> encode_origins(const std::vector<MemoryOrigin>& origins) {
  Names names;
  wire::Writer body;
  for (const MemoryOrigin& origin : origins) {
    body.put(origin.stores);
    body.put(names.number_of(origin.file));
    body.put(origin.line);
    body.put(origin.block);
    body.put(origin.thread);
    body.put(static_cast<std::uint8_t>(origin.complete));
    body.put(static_cast<std::uint32_t>(origin.reads.size()));
    for (const OriginRead& read : origin.reads) put(body, read, names);
  }
  wire::Writer writer;
  writer.put(static_cast<std::uint32_t>(names.all().size()));
  for (const std::string& name : names.all()) writer.put_string(name);
  writer.append(body.bytes());
  return writer.take();
}

std::vector<MemoryOrigin> decode_origins(std::span<const std::byte> bytes) {
  wire::Reader reader(bytes);
  std::vector<std::string> names;
  for (auto left = reader.get<std::uint32_t>(); left != 0; --left) {
    names.push_back(reader.get_string(kMostName));
  }
  std::vector<MemoryOrigin> origins;
  while (!reader.empty()) origins.push_back(origin_from(reader, names));
  return origins;
}

}  // namespace simgpu

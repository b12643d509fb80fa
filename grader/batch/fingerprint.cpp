#include "grader/batch/fingerprint.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <new>
#include <vector>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

using Digest = std::array<unsigned char, EVP_MAX_MD_SIZE>;

std::string hex_of(const Digest& digest, unsigned size) {
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace

void Fingerprint::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Fingerprint::Fingerprint() : context_(EVP_MD_CTX_new()) {
  if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) {
    throw std::bad_alloc();
  }
}

Fingerprint::~Fingerprint() = default;

void Fingerprint::update(std::string_view bytes) {
  EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
}

Fingerprint& Fingerprint::add(std::string_view text) {
  update(fmt::format("{}:", text.size()));
  update(text);
  return *this;
}

Fingerprint& Fingerprint::add_file(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::ranges::sort(files);
    for (const auto& file : files) {
      add(file.lexically_relative(path).native()).add(read_file(file));
    }
    return add(fmt::format("{} files", files.size()));
  }
  return std::filesystem::exists(path) ? add(read_file(path, std::size_t{1} << 30))
                                       : add("nothing");
}

std::string Fingerprint::hex() {
  Digest digest{};
  unsigned size = 0;
  EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
  return hex_of(digest, size);
}

std::string sha256_hex(std::string_view text) {
  Digest digest{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::bad_alloc();
  }
  return hex_of(digest, size);
}

}  // namespace rooflab

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace rooflab {

/// SHA-256 of one text, as 64 hexadecimal digits.
std::string sha256_hex(std::string_view text);

/// SHA-256 of a sequence of texts. Each goes in with its length, so that no two sequences are one:
/// ("ab", "c") is not ("a", "bc").
class Fingerprint {
 public:
  Fingerprint();
  ~Fingerprint();
  Fingerprint(const Fingerprint&) = delete;
  Fingerprint& operator=(const Fingerprint&) = delete;

  Fingerprint& add(std::string_view text);
  /// A file's contents, or those of every file beneath a folder with their paths, by path; what is
  /// not there adds that it is not.
  Fingerprint& add_file(const std::filesystem::path& path);
  /// Ends it. @return 64 hexadecimal digits
  std::string hex();

 private:
  void update(std::string_view bytes);

  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace rooflab

#pragma once

#include <string>
#include <string_view>

namespace rooflab {

/// A self-contained page in the style of all reports, light and dark. Its content security policy
/// forbids scripts, forms and whatever would be loaded, should anything ever get past
/// escape_html().
/// @param title not yet escaped
/// @param content of the page's `main`, as HTML
/// @param more_style rules that only this page needs
std::string html_page(std::string_view title, std::string_view content,
                      std::string_view more_style = {});

/// "<h2>…</h2>"; `html` is already escaped.
std::string html_heading(int level, std::string_view html);

}  // namespace rooflab

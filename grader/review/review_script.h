#pragma once

namespace rooflab {

/// All that the pages run. They work without it: it lets keys press what has a data-key, and keeps
/// words that were typed and not sent.
inline constexpr const char* kReviewScript = R"js("use strict";
(function () {
  const typing = (element) =>
    element && (element.isContentEditable || /^(textarea|select)$/i.test(element.tagName) ||
                (element.tagName === "INPUT" && !/^(checkbox|radio|submit|button)$/.test(element.type)));
  document.addEventListener("keydown", (event) => {
    const element = document.activeElement;
    if (event.key === "Escape" && typing(element)) { element.blur(); return; }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      const form = (element && element.form) || document.querySelector("form.grade");
      if (!form || form.method !== "post") return;
      event.preventDefault();
      form.requestSubmit(form.querySelector("button"));
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || typing(element)) return;
    if (event.key === "Enter" || event.key === " ") return;  // what has the focus is meant
    for (const target of document.querySelectorAll("[data-key]")) {
      if (target.dataset.key !== event.key) continue;
      event.preventDefault();
      if (target.type === "search") { target.focus(); target.select(); } else { target.click(); }
      return;
    }
  });
  let changed = false, sent = false;
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (form && form.method === "post") changed = true;
  });
  document.addEventListener("submit", () => { sent = true; });
  window.addEventListener("beforeunload", (event) => {
    if (changed && !sent) { event.preventDefault(); event.returnValue = ""; }
  });
})();
)js";

}  // namespace rooflab

#pragma once

namespace rooflab {

/// All that the pages run. They work without it: it lets keys press what has a data-key, and keeps
/// words that were typed and not sent.
inline constexpr const char* kReviewScript = R"js("use strict";
(function () {
  const typing = (element) =>
    element && (element.isContentEditable || /^(textarea|select)$/i.test(element.tagName) ||
                (element.tagName === "INPUT" && !/^(checkbox|radio|submit|button|hidden)$/.test(element.type)));
  const isEmpty = (form) => ![...form.elements].some((one) =>
    one.type === "checkbox" ? one.checked : typing(one) && one.value.trim() !== "");
  document.addEventListener("keydown", (event) => {
    const element = document.activeElement;
    if (event.key === "Escape" && typing(element)) { element.blur(); return; }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      const form = (element && element.form) || document.querySelector("form.grade");
      if (!form || form.method !== "post") return;
      event.preventDefault();
      const buttons = form.querySelectorAll("button");
      const decides = [...buttons].filter((button) => button.name === "decision").length > 1;
      // Nobody decides, or gives 0 points, by a key too many: the button is shown, and wants a press of its own.
      if (decides || (form.matches(".grade") && isEmpty(form))) buttons[0].focus();
      else form.requestSubmit(buttons[0]);
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
  const changed = new Set();  // forms with words that were not sent
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (form && form.method === "post") changed.add(form);
  });
  document.addEventListener("submit", (event) => { changed.delete(event.target); });
  window.addEventListener("beforeunload", (event) => {
    if (changed.size > 0) { event.preventDefault(); event.returnValue = ""; }
  });
})();
)js";

}  // namespace rooflab

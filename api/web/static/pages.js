// What pages can do beyond HTML: copy an id. Without this script, or without a clipboard, the buttons stay hidden.
"use strict";

if (navigator.clipboard) {
  document.documentElement.classList.add("can-copy");
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const said = document.querySelector(".said");
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
    said.textContent = `Copied ${button.getAttribute("aria-label").replace("Copy ", "")}`;
  } catch {
    said.textContent = "The browser did not allow copying; select the text instead.";
  }
  setTimeout(() => { button.textContent = "Copy"; said.textContent = ""; }, 2000);
});

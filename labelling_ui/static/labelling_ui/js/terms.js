(() => {
  // Shows a word's definition while the pointer or the focus is on it, until Escape.
  const tip = Object.assign(document.createElement("div"), { className: "tip", popover: "manual" });
  tip.setAttribute("aria-hidden", "true"); // the word's description already has it
  let explained = null;

  function explain(word) {
    explained = word;
    tip.textContent = word.getAttribute("aria-description");
    if (!tip.isConnected) document.body.append(tip);
    tip.showPopover();
    const at = word.getBoundingClientRect();
    const box = tip.getBoundingClientRect();
    const below = at.bottom + box.height + 8 < innerHeight;
    tip.style.top = `${below ? at.bottom + 4 : at.top - box.height - 4}px`;
    tip.style.left = `${Math.max(8, Math.min(at.left, document.documentElement.clientWidth - box.width - 8))}px`;
  }

  function hide() {
    if (!explained) return;
    explained = null;
    tip.hidePopover();
  }

  for (const [shows, hides] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
    document.addEventListener(shows, (event) => {
      const word = event.target.closest?.(".term, .explain");
      if (word && word !== explained) explain(word);
    });
    document.addEventListener(hides, (event) => {
      const to = event.relatedTarget;
      if (explained && !(to instanceof Node && (explained.contains(to) || tip.contains(to)))) hide();
    });
  }
  document.addEventListener("scroll", hide, { capture: true, passive: true });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("htmx:afterSettle", () => {
    if (!explained?.isConnected) hide();
  });
})();

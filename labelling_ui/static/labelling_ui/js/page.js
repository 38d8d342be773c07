// Conveniences of every page; all pages work without this script.
// Converts the server's UTC times to the reader's zone.
(() => {
  const now = () => new Date();
  // The page's language as this browser writes it: English alone does not say whether a day has 12 hours or 24.
  const language = document.documentElement.lang;
  const locale = navigator.languages.find((tag) => tag.split("-")[0] === language) ?? language;
  const time = { hour: "2-digit", minute: "2-digit" };
  const day = { day: "numeric", month: "short", year: "numeric" };

  function inWords(at) {
    if (at.toDateString() === now().toDateString()) return at.toLocaleTimeString(locale, time);
    return at.toLocaleString(locale, { ...day, ...time });
  }

  function localise(root) {
    for (const element of root.querySelectorAll("time[data-local]")) {
      const at = new Date(element.dateTime);
      element.textContent = inWords(at);
      element.title = at.toLocaleString(locale, { dateStyle: "full", timeStyle: "long" });
      element.removeAttribute("data-local");
    }
  }

  // On narrow screens a row is a block, and each cell shows the name of its column (tables.css).
  function nameCells(root) {
    for (const table of root.querySelectorAll(".table > table:not(.stacked, .heat-map)")) {
      const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
      const names = heads.map((head) => (head.querySelector(".hidden-label") ? "" : head.textContent.trim()));
      for (const cell of table.querySelectorAll("tbody :is(th, td)")) {
        if (names[cell.cellIndex]) cell.dataset.column = names[cell.cellIndex];
      }
      table.classList.add("named");
    }
  }

  // The zone in which the server reads the days and times that are typed here (config/zones.py).
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  document.cookie = `zone=${timeZone}; path=/; max-age=31536000; samesite=lax`;
  localise(document);
  nameCells(document);
  for (const open of document.querySelectorAll(".tabs [aria-current]")) open.scrollIntoView({ inline: "center", block: "nearest" });
  document.addEventListener("htmx:afterSettle", () => {
    localise(document);
    nameCells(document);
  });

  // A part that exchanges itself while work goes on keeps the focus, and what is open in it.
  const stopsOf = (part) => [...part.querySelectorAll("a[href], button, input, select, textarea, summary")];
  const detailsOf = (part) => [...part.querySelectorAll("details")];
  let exchanged = null;
  document.addEventListener("htmx:beforeSwap", ({ detail: { target, requestConfig } }) => {
    const at = stopsOf(target).indexOf(document.activeElement);
    const stop = { at, words: document.activeElement.textContent };
    exchanged = requestConfig.elt === target && { id: target.id, stop, open: detailsOf(target).map(({ open }) => open) };
  });
  document.addEventListener("htmx:afterSwap", () => {
    const part = exchanged && document.getElementById(exchanged.id);
    if (!part) return;
    const details = detailsOf(part);
    if (details.length === exchanged.open.length) details.forEach((one, n) => (one.open = exchanged.open[n]));
    const stop = stopsOf(part)[exchanged.stop.at];
    if (stop?.textContent === exchanged.stop.words) stop.focus({ preventScroll: true });
    exchanged = null;
  });

  // A button that cannot be undone asks first.
  document.addEventListener("submit", (event) => {
    const question = event.submitter?.dataset.confirm;
    if (question && !confirm(question)) event.preventDefault();
  });

  // An open menu closes on Escape and on a click elsewhere.
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
})();

// Asks before leaving a page with unsaved changes, and shows beside the button that there are some.
for (const form of document.querySelectorAll("form[data-unsaved]")) {
  const written = () => new URLSearchParams(new FormData(form)).toString();
  const note = form.querySelector("[data-unsaved-note]");
  const asOpened = form.dataset.unsaved ? null : written(); // a rejected form is not saved
  let sending = false;
  const unsaved = () => !sending && written() !== asOpened;
  const tell = () => (note.hidden = !unsaved());

  form.addEventListener("input", tell);
  form.addEventListener("click", () => setTimeout(tell)); // rows are added by a button
  form.addEventListener("submit", () => (sending = true));
  addEventListener("beforeunload", (event) => unsaved() && event.preventDefault());
  addEventListener("pageshow", () => (sending = false)); // restored from the back/forward cache
  tell();
}

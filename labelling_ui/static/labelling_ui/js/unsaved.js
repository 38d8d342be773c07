// Asks before a page is left whose form was changed and not saved; says beside the button that it was.
for (const form of document.querySelectorAll("form[data-unsaved]")) {
  const written = () => new URLSearchParams(new FormData(form)).toString();
  const note = form.querySelector("[data-unsaved-note]");
  const asOpened = form.dataset.unsaved ? null : written(); // what came back refused is saved nowhere
  let sending = false;
  const unsaved = () => !sending && written() !== asOpened;
  const tell = () => (note.hidden = !unsaved());

  form.addEventListener("input", tell);
  form.addEventListener("click", () => setTimeout(tell)); // rows are added by a button
  form.addEventListener("submit", () => (sending = true));
  addEventListener("beforeunload", (event) => unsaved() && event.preventDefault());
  addEventListener("pageshow", () => (sending = false)); // back again, from the browser's memory
  tell();
}

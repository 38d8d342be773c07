// Shows how a chosen file begins, and again when the format, the rule of splitting or what a column holds changes.
// Only the first bytes are sent, of a Parquet file the last ones too; the form works without this script.
(() => {
  const HEAD_BYTES = 2 * 1024 * 1024;
  const form = document.querySelector("form[data-preview]");
  const place = document.getElementById("import-preview");
  let latest = 0;

  async function show(event) {
    const file = form.elements.file.files[0] ?? form.elements.folder.files[0];
    const mine = ++latest;
    if ([form.elements.file, form.elements.folder].includes(event.target) || event.target === form.elements.format) place.replaceChildren();
    if (!file) return;
    const body = new FormData(form);
    body.delete("file");
    body.delete("folder");
    body.append("head", file.slice(0, HEAD_BYTES), file.name);
    if (file.size > HEAD_BYTES && (await file.slice(0, 4).text()) === "PAR1") {
      body.append("tail", file.slice(-HEAD_BYTES), file.name);
      body.append("size", String(file.size));
    }
    body.append("whole", String(file.size <= HEAD_BYTES));
    body.append("filename", file.name);
    const answer = await fetch(form.dataset.preview, { method: "POST", body }).catch(() => null);
    const html = answer?.ok ? await answer.text() : "";
    if (mine !== latest) return;
    const at = [...place.querySelectorAll("select, input")].indexOf(document.activeElement);
    const name = document.activeElement?.name;
    place.innerHTML = html;
    const again = place.querySelectorAll("select, input")[at];
    if (again && again.name === name) again.focus();
  }

  form.addEventListener("change", show);
  // An answer to what was said before must not replace a field that is being typed in: leaving it asks again.
  form.addEventListener("input", () => {
    latest += 1;
  });
})();

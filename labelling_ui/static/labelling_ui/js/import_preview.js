// Previews the data of a form: a chosen file, a pasted text or an example. The preview follows changes of the format,
// the split rule and the mapping of columns. Only the first bytes of a file are sent, and of a Parquet file the last
// ones. The form works without this script.
(() => {
  const HEAD_BYTES = 2 * 1024 * 1024;
  const TYPING_MS = 300;
  const form = document.querySelector("form[data-preview]");
  const place = document.getElementById("import-preview");
  const status = document.getElementById("preview-status");
  const beginnings = ["file", "folder", "source", "example", "text", "format"];
  let latest = 0;
  let typing = 0;

  const sourceOf = () => form.elements.source?.value || "file";

  // A folder also has a licence, a README and the like.
  const largest = (files) => [...files].sort((one, other) => other.size - one.size)[0];

  async function bodyOf() {
    const source = sourceOf();
    const body = new FormData(form);
    for (const name of ["file", "folder", "guidelines", "people"]) body.delete(name);
    if (source !== "file") return form.elements[source].value.trim() ? body : null;
    const file = largest(form.elements.file.files) ?? largest(form.elements.folder?.files ?? []);
    if (!file) return null;
    body.append("head", file.slice(0, HEAD_BYTES), file.name);
    if (file.size > HEAD_BYTES && (await file.slice(0, 4).text()) === "PAR1") {
      body.append("tail", file.slice(-HEAD_BYTES), file.name);
      body.append("size", String(file.size));
    }
    body.append("whole", String(file.size <= HEAD_BYTES));
    body.append("filename", file.name);
    return body;
  }

  function put(html) {
    const at = [...place.querySelectorAll("select, input")].indexOf(document.activeElement);
    const { name, selectionStart, selectionEnd } = document.activeElement ?? {};
    place.innerHTML = html;
    const again = place.querySelectorAll("select, input")[at];
    if (again && again.name === name) {
      again.focus();
      // Keep the selection, so that typing still replaces it.
      if (Number.isInteger(selectionStart)) again.setSelectionRange(selectionStart, selectionEnd);
    }
    status.textContent = place.querySelector("[data-status]")?.dataset.status ?? "";
    document.dispatchEvent(new CustomEvent("stepmark:shown"));
  }

  async function show(event) {
    clearTimeout(typing);
    const mine = ++latest;
    // A mapping of columns belongs to one data set only.
    const { name, value } = event.target;
    if (beginnings.includes(name) && name !== "text") place.replaceChildren();
    const body = await bodyOf();
    if (body && name === "format") body.set("format", value);
    if (!body) {
      put("");
      return;
    }
    if (event.target.name === "text") for (const name of ["column", "holds"]) body.delete(name);
    const answer = await fetch(form.dataset.preview, { method: "POST", body }).catch(() => null);
    const html = answer?.ok ? await answer.text() : "";
    if (mine === latest) put(html);
  }

  const unconcerned = ["template", "guidelines", "clauses", "name", "people"];
  form.addEventListener("change", (event) => {
    if (!unconcerned.includes(event.target.name)) void show(event);
  });
  // A late response must not replace a field that is being edited. Leaving the field requests a new preview.
  form.addEventListener("input", (event) => {
    if (unconcerned.includes(event.target.name)) return;
    latest += 1;
    clearTimeout(typing);
    if (event.target.name === "text") typing = setTimeout(() => void show(event), TYPING_MS);
  });
  // A page that the browser brings back has its fields, not its preview. It restores a chosen file after this script.
  window.addEventListener("pageshow", () => {
    if (sourceOf() !== "file" || form.elements.file.files.length) void show({ target: form });
  });
})();

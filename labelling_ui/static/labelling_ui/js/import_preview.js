// Shows how a chosen file begins, and again when the format or the rule of splitting changes.
// Only the first bytes are sent; the form works without this script.
(() => {
  const HEAD_BYTES = 2 * 1024 * 1024;
  const form = document.querySelector("form[data-preview]");
  const place = document.getElementById("import-preview");
  let latest = 0;

  async function show() {
    const file = form.elements.file.files[0];
    const mine = ++latest;
    if (!file) {
      place.replaceChildren();
      return;
    }
    const body = new FormData();
    body.append("head", file.slice(0, HEAD_BYTES), file.name);
    body.append("whole", String(file.size <= HEAD_BYTES));
    body.append("filename", file.name);
    for (const name of ["format", "decomposition", "csrfmiddlewaretoken"]) body.append(name, form.elements[name].value);
    const answer = await fetch(form.dataset.preview, { method: "POST", body }).catch(() => null);
    const html = answer?.ok ? await answer.text() : "";
    if (mine === latest) place.innerHTML = html;
  }

  form.addEventListener("change", show);
})();

// Conveniences of the page of a new project, which works without this script.
// The data selects the template, and the template the guidelines, until a person chooses or edits them.
(() => {
  const form = document.querySelector("form.new-project");
  const { guidelines, name, file } = form.elements;
  const ofTemplate = JSON.parse(document.getElementById("template-guidelines").textContent);
  const [progress, working] = [".finish progress", ".working"].map((part) => form.querySelector(part));
  const plain = (text) => text.replace(/\s+/g, " ").trim();
  const isOfTemplate = (text) => !text.trim() || Object.values(ofTemplate).some((own) => plain(own) === plain(text));
  let chosen = false;
  let named = name.value;

  function fillGuidelines() {
    if (isOfTemplate(guidelines.value)) guidelines.value = ofTemplate[form.elements.template.value];
  }

  form.addEventListener("change", (event) => {
    if (event.target.name === "template") {
      chosen = true;
      fillGuidelines();
    }
    if (event.target === file && file.files[0] && name.value === named) {
      named = name.value = file.files[0].name.split(".")[0].replaceAll("_", " ").trim().slice(0, 200);
    }
    if (["source", "example"].includes(event.target.name) && name.value === named) named = name.value = "";
  });

  document.addEventListener("stepmark:shown", () => {
    const suggested = form.querySelector("[data-suggests]")?.dataset.suggests;
    if (!suggested || chosen) return;
    form.querySelector(`[name=template][value=${suggested}]`).checked = true;
    fillGuidelines();
  });

  const say = (words) => {
    working.textContent = words;
  };
  form.addEventListener("htmx:beforeRequest", () => say(working.dataset.working));
  form.addEventListener("htmx:xhr:progress", ({ detail }) => {
    if (!detail.lengthComputable) return;
    progress.hidden = detail.loaded === detail.total;
    progress.value = detail.loaded / detail.total;
  });
  form.addEventListener("htmx:afterRequest", ({ detail }) => {
    progress.hidden = true;
    // Only a redirect loads the next page.
    if (!detail.xhr?.getResponseHeader("HX-Redirect")) say(detail.failed ? form.dataset.failed : "");
  });
  document.addEventListener("htmx:afterSwap", () => form.querySelector("#problems [role=alert]")?.focus());
})();

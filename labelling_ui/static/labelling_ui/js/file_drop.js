// A file dropped anywhere on the page becomes the value of the form's file field.
(() => {
  const form = document.querySelector("form[data-preview]");
  const input = form.elements.file;
  const carriesFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  let depth = 0;

  const mark = (over) => form.classList.toggle("dragged", over);

  async function filesOf(entry) {
    if (entry.isFile) return [await new Promise((done, failed) => entry.file(done, failed))];
    const reader = entry.createReader();
    const files = [];
    for (let some = null; some === null || some.length; ) {
      some = await new Promise((done, failed) => reader.readEntries(done, failed));
      for (const one of some) files.push(...(await filesOf(one)));
    }
    return files;
  }

  document.addEventListener("dragenter", (event) => {
    if (carriesFiles(event)) mark(++depth > 0);
  });
  document.addEventListener("dragleave", (event) => {
    if (carriesFiles(event)) mark(--depth > 0);
  });
  document.addEventListener("dragover", (event) => {
    if (carriesFiles(event)) event.preventDefault();
  });
  document.addEventListener("drop", async (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    mark((depth = 0));
    const plain = [...event.dataTransfer.files];
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const folders = entries.some((entry) => entry.isDirectory);
    const files = folders ? (await Promise.all(entries.map(filesOf))).flat() : plain;
    const chosen = new DataTransfer();
    for (const file of input.multiple ? files : files.slice(0, 1)) chosen.items.add(file);
    if (!chosen.files.length) return;
    const source = form.querySelector("[name=source][value=file]");
    if (source) source.checked = true;
    input.files = chosen.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    input.focus();
  });
})();

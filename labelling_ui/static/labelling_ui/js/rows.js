// Adds empty rows to a list in a form. Without this script, each save adds one.
for (const part of document.querySelectorAll("[data-rows]")) {
  const total = part.querySelector(`[name="${part.dataset.rows}-TOTAL_FORMS"]`);
  const most = Number(part.querySelector(`[name="${part.dataset.rows}-MAX_NUM_FORMS"]`).value);
  const add = part.querySelector("[data-add]");
  const template = part.querySelector("template");
  add.hidden = false;
  add.addEventListener("click", () => {
    const row = document.createElement("template");
    row.innerHTML = template.innerHTML.replaceAll("__prefix__", total.value);
    part.querySelector("[data-list]").append(row.content);
    total.value = Number(total.value) + 1;
    add.disabled = Number(total.value) >= most;
    part.querySelector("[data-list] > :last-child textarea").focus();
  });
}

// Conveniences of every form; all forms work without this script.
(() => {
  const KEY = "stepmark:sent-form";
  const LEFT = `stepmark:left-form:${location.pathname}:`;
  const SECOND_PRESS_MS = 5_000;
  const OWN_VALUES = ["hidden", "file", "password", "submit", "button", "fieldset"];
  let last = { form: null, at: 0 };

  const fieldsOf = (form) => [...form.elements].filter(({ name, type }) => name && !OWN_VALUES.includes(type));
  const isChecked = ({ type }) => type === "checkbox" || type === "radio";
  const isMultiple = ({ type }) => type === "select-multiple";

  function stateOf(field) {
    if (isMultiple(field)) return [...field.selectedOptions].map(({ value }) => value);
    return isChecked(field) ? field.checked : field.value;
  }

  function put(field, state) {
    if (isMultiple(field)) for (const option of field.options) option.selected = state.includes(option.value);
    else field[isChecked(field) ? "checked" : "value"] = state;
  }

  // A time is shown and typed in the reader's zone, so it is sent with its offset.
  document.addEventListener("formdata", ({ target, formData }) => {
    for (const { name, value } of target.querySelectorAll("input[type=datetime-local]")) {
      if (value) formData.set(name, new Date(value).toISOString());
    }
  });

  // The second press of a double click would replace the answer to the first, which may show a password once.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.getAttribute("method") !== "post") return;
    remember(form);
    if (event.defaultPrevented) return;
    if (last.form === form && Date.now() - last.at < SECOND_PRESS_MS) event.preventDefault();
    else last = { form, at: Date.now() };
  });
  addEventListener("pageshow", () => (last.form = null)); // restored from the back/forward cache

  // What was typed returns to its fields if the page does with an error, or after signing in again.
  function remember(form) {
    if (!fieldsOf(form).length || form.querySelector("[type=password]")) return;
    store(KEY, { ...written(form), page: location.pathname, action: form.getAttribute("action"), rejected: false });
  }

  function written(form) {
    const fields = fieldsOf(form).map((field) => ({
      name: field.name,
      option: isChecked(field) && field.value,
      state: stateOf(field),
    }));
    return { person: document.body.dataset.person, fields };
  }

  function store(key, value) {
    try {
      if (value) sessionStorage.setItem(key, JSON.stringify(value));
      else sessionStorage.removeItem(key);
    } catch {
      // The browser stores nothing, or not so much.
    }
  }

  function stored(key) {
    try {
      return JSON.parse(sessionStorage.getItem(key));
    } catch {
      return null;
    }
  }

  function sentForm({ action, fields }) {
    return [...document.forms].find(
      (form) => form.getAttribute("action") === action && fieldsOf(form)[0]?.name === fields[0].name,
    );
  }

  function restore(form, fields) {
    const left = form ? fieldsOf(form) : [];
    for (const { name, option, state } of fields) {
      const at = left.findIndex((field) => field.name === name && (option === false || field.value === option));
      const [field] = at < 0 ? [] : left.splice(at, 1);
      if (!field || String(stateOf(field)) === String(state)) continue;
      put(field, state);
      for (let part = field.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
      for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
    }
  }

  // After the other scripts of the page, which compare with the values that it was opened with.
  document.addEventListener("DOMContentLoaded", () => {
    restoreLeft();
    const sent = stored(KEY);
    if (!sent) return;
    const signingIn = document.querySelector("[type=password]") !== null;
    const rejects = signingIn || document.querySelector(".message.error, .failure") !== null;
    const returned = sent.page === location.pathname && sent.person === document.body.dataset.person;
    sent.rejected ||= rejects;
    store(KEY, (returned ? sent.rejected : rejects) ? sent : null);
    if (returned && sent.rejected) restore(sentForm(sent), sent.fields);
  });

  // A form marked `data-kept` returns as it was left, in the same tab, if a text was typed into it and not sent.
  const typed = new Set();
  let sending = null;

  const leftKey = (form) => LEFT + (form.getAttribute("action") ?? "").split("?")[0];

  function restoreLeft() {
    for (const form of document.querySelectorAll("form[data-kept]")) {
      const left = stored(leftKey(form));
      if (left?.person === document.body.dataset.person) restore(form, left.fields);
    }
  }

  document.addEventListener("input", ({ target }) => {
    if (!target.matches("form[data-kept] :is(textarea, input[type=text], input:not([type]))")) return;
    typed.add(target.form);
    sending = null;
  });
  document.addEventListener("submit", ({ target }) => (sending = target));
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (!detail.xhr?.getResponseHeader("HX-Redirect")) sending = null;
  });
  addEventListener("pagehide", () => {
    for (const form of typed) store(leftKey(form), form.isConnected && form !== sending ? written(form) : null);
  });
})();

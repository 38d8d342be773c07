import { putMarks } from "./marks";

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
/** The values of the fields with a name. */
type Values = Record<string, string[]>;

/** What differs from the page as it was opened, and the id under which its decision is sent. */
interface Draft {
  submission: string;
  values: Values;
}

/** The person and the case; the prefix is not the workbench's, which takes every key of its own. */
const keyOf = (path: string) => `stepmark-review:${document.body.dataset.person}:${path}`;
const SECTION = "restored";
const OF_THE_PAGE = ["csrfmiddlewaretoken", "seen", "stops", "submission_id"];
const MARKS = /^span-(\d+)$/;

/** Restores what the reviewer entered in this case and did not send, and stores every change in the browser. */
export function keepDraft(form: HTMLFormElement, table: HTMLTableElement): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>(".message.success a")) write(link.pathname, null);
  const opened = valuesOf(form);
  const draft = read();
  if (draft && !table.dataset.submissions!.split(" ").includes(draft.submission)) restore(form, table, draft.values);
  let discarded = false;
  let waiting: number | undefined;
  const save = () => {
    const values = changed(opened, valuesOf(form));
    const submission = form.querySelector<HTMLInputElement>("[name=submission_id]")!.value;
    if (!discarded) write(location.pathname, Object.keys(values).length ? { submission, values } : null);
  };
  const saveSoon = () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(save);
  };
  for (const type of ["input", "change", "click", "keydown"]) document.addEventListener(type, saveSoon);
  document.querySelector(`#${SECTION} button`)!.addEventListener("click", () => {
    discarded = true;
    write(location.pathname, null);
    location.replace(location.href);
  });
  save();
}

function restore(form: HTMLFormElement, table: HTMLTableElement, values: Values): void {
  for (const [name, ranges] of Object.entries(values)) {
    const step = MARKS.exec(name)?.[1];
    if (step) putMarks(table, Number(step), ranges);
  }
  for (const [name, wanted] of Object.entries(values)) {
    const fields = [...form.elements].filter((field): field is Field => (field as Field).name === name);
    fields.forEach((field, n) => {
      if (field instanceof HTMLInputElement && ["radio", "checkbox"].includes(field.type)) field.checked = wanted.includes(field.value);
      else field.value = wanted[n] ?? "";
      const more = field.type === "hidden" ? null : field.closest("details");
      if (more) more.open = true;
    });
  }
  document.getElementById(SECTION)!.hidden = false;
}

function valuesOf(form: HTMLFormElement): Values {
  const values: Values = {};
  for (const [name, value] of new FormData(form)) if (!OF_THE_PAGE.includes(name)) (values[name] ??= []).push(String(value));
  return values;
}

/** The values that differ, also where a field has none any more. */
function changed(before: Values, now: Values): Values {
  const names = Object.keys({ ...before, ...now });
  const differs = (name: string) => JSON.stringify(before[name]) !== JSON.stringify(now[name]);
  return Object.fromEntries(names.filter(differs).map((name) => [name, now[name] ?? []]));
}

function read(): Draft | null {
  try {
    return JSON.parse(localStorage.getItem(keyOf(location.pathname)) ?? "null") as Draft | null;
  } catch {
    return null; // the browser stores nothing
  }
}

function write(path: string, draft: Draft | null): void {
  try {
    if (draft) localStorage.setItem(keyOf(path), JSON.stringify(draft));
    else localStorage.removeItem(keyOf(path));
  } catch {
    // The browser stores nothing, or not so much.
  }
}

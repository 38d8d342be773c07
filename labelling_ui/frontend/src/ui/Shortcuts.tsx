import { text } from "../text";
import { type Group, type Shortcut } from "./keys";
import { useScheme } from "./scheme";

const GROUPS: Group[] = ["rating", "error", "moving", "notes", "work", "page"];
const CAPS: Record<string, string> = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };

/** The keys of the workbench, as the key table has them. */
export function Shortcuts() {
  const { shortcuts, answers } = useScheme();
  const nameOf = (about: Shortcut["about"]) =>
    answers.find((look) => look.answer === about && look.name !== text.answers[look.answer])?.name ?? text.shortcuts.what[about];
  const groups = GROUPS.filter((group) => shortcuts.some((shortcut) => shortcut.group === group));
  return (
    <>
      {groups.map((group) => (
        <section key={group} aria-labelledby={`keys-${group}`}>
          <h3 id={`keys-${group}`}>{text.shortcuts.groups[group]}</h3>
          <dl class="keys">
            {shortcuts.filter((shortcut) => shortcut.group === group).map((shortcut) => (
              <div key={shortcut.about}>
                <dt>
                  {capsOf(shortcut).map((cap) => (
                    <kbd key={cap}>{cap}</kbd>
                  ))}
                </dt>
                <dd>{nameOf(shortcut.about)}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </>
  );
}

/** What is printed on the keys of a shortcut. */
export function capsOf({ keys, held }: Shortcut): string[] {
  const caps = keys.map((key) => CAPS[key] ?? key);
  return held ? [text.shortcuts.held[held], ...caps] : caps;
}

import type { Example } from "../api/types";
import { RichText } from "../reading/RichText";
import { unwrap } from "../reading/unwrap";
import type { Desk } from "../session/session";
import type { View } from "../session/view";
import { text, timeOf } from "../text";
import { KeyButton } from "./controls";
import type { Panel } from "./Header";
import type { Group, Shortcut } from "./keys";
import { type Look, useScheme } from "./scheme";
import { Sign } from "./Rating";
import { Terms } from "./Term";

interface Props {
  panel: Panel;
  view: View;
  session: Desk;
  onClose: () => void;
  onBreak: () => void;
}

/** Beside the work if there is room, a sheet over it if not. */
export function SidePanel(props: Props) {
  const { panel, view, onClose } = props;
  return (
    <section class="panel" id="panel" tabIndex={-1} aria-label={text.panel[panel]}>
      <div class="panel-head">
        <h2>{text.panel[panel]}</h2>
        <button type="button" class="quiet" aria-label={text.panel.close} onClick={onClose}>
          ✕
        </button>
      </div>
      {panel === "guidelines" && <Guidelines {...view.guidelines} />}
      {panel === "keys" && <Shortcuts />}
      {panel === "sitting" && <Sitting {...props} />}
    </section>
  );
}

/** The project's guidelines, and example steps for each rating. */
function Guidelines({ text: guidelines, examples }: View["guidelines"]) {
  const { answers } = useScheme();
  return (
    <>
      {guidelines.trim() ? <RichText text={unwrap(guidelines)} /> : <Legend />}
      {answers.map((look) => (
        <Examples key={look.answer} look={look} examples={examples.filter(({ rating }) => rating === look.answer)} />
      ))}
      <h3>{text.panel.terms}</h3>
      <Terms />
    </>
  );
}

function Legend() {
  const { answers } = useScheme();
  return (
    <dl class="legend">
      {answers.map(({ answer, name, help }) => (
        <div key={answer}>
          <dt>
            <Sign answer={answer} /> <span>{name}</span>
          </dt>
          <dd>{help}</dd>
        </div>
      ))}
    </dl>
  );
}

function Examples({ look: { answer, name }, examples }: { look: Look; examples: Example[] }) {
  if (examples.length === 0) return null;
  return (
    <section class="examples" aria-labelledby={`examples-${answer}`}>
      <h3 id={`examples-${answer}`}>
        <Sign answer={answer} /> {text.panel.examples(name)}
      </h3>
      {examples.map((example, index) => (
        <figure key={index}>
          {example.before && (
            <div class="before">
              <RichText text={unwrap(example.before)} />
            </div>
          )}
          <blockquote>
            <RichText text={unwrap(example.step)} />
          </blockquote>
          {example.why && (
            <figcaption>
              <RichText text={unwrap(example.why)} />
            </figcaption>
          )}
        </figure>
      ))}
    </section>
  );
}

const GROUPS: Group[] = ["rating", "error", "moving", "notes", "work", "page"];
const CAPS: Record<string, string> = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };

/** The keys of the workbench, from the key table. */
function Shortcuts() {
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

/** The labels of a shortcut's keys. */
export function capsOf({ keys, held }: Shortcut): string[] {
  const caps = keys.map((key) => CAPS[key] ?? key);
  return held ? [text.shortcuts.held[held], ...caps] : caps;
}

/** The sitting: work done, the goal, and the button for a break. */
function Sitting({ view, onBreak, session }: Props) {
  const { sitting, heldUntil } = view;
  return (
    <div class="sitting">
      <p>
        {text.sitting.done(sitting.done)}
        <br />
        {text.sitting.worked(Math.round(sitting.workedMs / 60_000))}
      </p>
      {sitting.goal > 0 && (
        <progress max={sitting.goal} value={sitting.done} aria-label={text.sitting.ofGoal(sitting.done, sitting.goal)} />
      )}
      <label class="field">
        <span>
          {text.sitting.goal} <span class="muted">({text.sitting.noGoal})</span>
        </span>
        <input
          type="number"
          min={0}
          max={10_000}
          value={sitting.goal}
          onChange={(event) => session.aim?.(Math.min(10_000, Math.max(0, Math.round(event.currentTarget.valueAsNumber) || 0)))}
        />
      </label>
      {view.task && (
        <KeyButton about="break" class="chip" onClick={onBreak}>
          {text.sitting.takeBreak}
        </KeyButton>
      )}
      {heldUntil !== null && <p class="muted">{text.sitting.held(timeOf(heldUntil))}</p>}
    </div>
  );
}

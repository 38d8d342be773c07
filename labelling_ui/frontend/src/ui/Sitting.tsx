import { useEffect, useRef } from "preact/hooks";
import type { Desk } from "../session/desk";
import type { View } from "../session/view";
import { text } from "../text";
import { timeOf } from "./clock";
import { useScheme } from "./scheme";

type Props = { view: View; session: Desk };

const minutes = (ms: number) => Math.round(ms / 60_000);

/** What was done in this sitting, its goal, and the way to a break. */
export function SittingPanel({ view, onBreak, session }: Props & { onBreak: () => void }) {
  const { sitting, heldUntil } = view;
  const key = useScheme().keyOf("break");
  return (
    <div class="sitting">
      <p>
        {text.sitting.done(sitting.done)}
        <br />
        {text.sitting.worked(minutes(sitting.workedMs))}
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
          onChange={(event) => session.aim(Math.min(10_000, Math.max(0, Math.round(event.currentTarget.valueAsNumber) || 0)))}
        />
      </label>
      {view.task && (
        <button type="button" class="chip" aria-keyshortcuts={key} onClick={onBreak}>
          {text.sitting.takeBreak} <kbd aria-hidden="true">{key}</kbd>
        </button>
      )}
      {heldUntil !== null && <p class="muted">{text.sitting.held(clock(heldUntil))}</p>}
    </div>
  );
}

/** A word on the goal or on a break, once it is time for it. */
export function Proposal({ view, onBreak, session }: Props & { onBreak: () => void }) {
  const { proposal, done, workedMs, restingSince } = view.sitting;
  if (!proposal || restingSince !== null) return null;
  const reached = proposal === "goal";
  return (
    <p class="banner calm">
      {reached ? text.sitting.goalReached(done, minutes(workedMs)) : text.sitting.breakDue}{" "}
      <button type="button" class="quiet" onClick={onBreak}>
        {text.sitting.takeBreak}
      </button>{" "}
      <button type="button" class="quiet" onClick={() => session.putOff()}>
        {reached ? text.sitting.goOn : text.sitting.notNow}
      </button>
    </p>
  );
}

/** In place of the work while the person rests. */
export function BreakScreen({ view, onGoOn }: { view: View; onGoOn: () => void }) {
  const { heldUntil, sitting } = view;
  const key = useScheme().keyOf("break");
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <div class="idle" role="status">
      <h1>{text.sitting.resting(clock(sitting.restingSince ?? 0))}</h1>
      <p>{text.sitting.restingHelp}</p>
      {heldUntil !== null && <p class="muted">{text.sitting.stillYours(clock(heldUntil))}</p>}
      <div class="ways">
        <button type="button" class="primary" aria-keyshortcuts={key} ref={button} onClick={onGoOn}>
          {text.sitting.goOn} <kbd aria-hidden="true">{key}</kbd>
        </button>
      </div>
    </div>
  );
}

function clock(ms: number): string {
  return timeOf(new Date(ms).toISOString());
}

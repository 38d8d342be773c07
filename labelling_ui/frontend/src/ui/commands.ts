import type { RefObject } from "preact";
import type { Desk } from "../session/session";
import type { View } from "../session/view";
import { readiness, rows } from "../state/derived";
import type { Action, State } from "../state/model";
import { text } from "../text";
import type { Accepting } from "./accepting";
import { whatNext } from "./ActionBar";
import { focusQuestion, pressTool } from "./Questions";
import { focusCurrent } from "./keyboard";
import type { Command } from "./keys";
import type { Marking } from "./marking";
import type { SidePanels, Tools } from "./tools";
import { turnStop } from "./Problem";

/** The commands allowed while an explanation is shown. */
const READING = new Set<Command["type"]>(["move", "go_to", "search", "reference", "submit", "leave"]);

/** What the commands act on. */
export interface Workbench {
  session: Desk;
  view: View;
  /** Records the time spent on the solution so far. */
  spend: () => void;
  act: (action: Action) => void;
  say: (words: string) => void;
  tools: Tools;
  panels: SidePanels;
  accepting: Accepting;
  marking: Marking;
  maySkip: boolean;
  /** Begins a break; null in practice. */
  rest: (() => void) | null;
  goOn: () => void;
  goBack: (from: Element) => void;
  focusNext: RefObject<string | null>;
}

/** Runs the command of a key. */
export function runCommand(bench: Workbench, command: Command): void {
  const { view, panels, tools } = bench;
  const resting = view.sitting.restingSince !== null;
  if (command.type !== "go_to") tools.set({ goingTo: false });
  if (command.type === "panel") return panels.turn(command.panel);
  if (command.type === "break") return resting ? bench.goOn() : view.state ? bench.rest?.() : undefined;
  if (command.type === "returned") return document.querySelector<HTMLElement>(".returned")?.click();
  if (command.type === "decide") return focus(".banners .decide");
  if (!view.state || resting || (view.practice?.explanation && !READING.has(command.type))) return;
  bench.focusNext.current = "current";
  runOnSolution(bench, view.state, command);
}

function runOnSolution(bench: Workbench, state: State, command: Command): void {
  const { act, accepting, focusNext, marking, tools } = bench;
  const step = state.cursor;
  switch (command.type) {
    case "rate":
      return act({ type: "rate", step, answer: command.answer });
    case "move":
      return act({ type: "move", by: command.by });
    case "first_error":
      return accepting.firstError(step);
    case "flag":
    case "choose":
    case "hint":
      return act({ type: command.type, step });
    case "no_error":
      return accepting.noError();
    case "undo":
    case "redo":
    case "complete":
      return act({ type: command.type });
    case "own_step":
      return writeOwn(bench, state);
    case "comment":
      return tools.comment(step);
    case "mark":
      return marking.mark();
    case "select_word":
      focusNext.current = null;
      return marking.select(command.by, command.extend);
    case "error_type":
      focusNext.current = null;
      return focus(".shown .step.current .error-types button");
    case "tool":
      focusNext.current = null;
      return pressTool(command.tool);
    case "asked":
      focusNext.current = null;
      return focusQuestion(command.what);
    case "go_to":
      focusNext.current = "#go-to";
      return tools.set({ searching: false, goingTo: true });
    case "search":
      focusNext.current = "#search";
      return tools.set({ searching: true });
    case "reference":
      return tools.set({ referenceFlipped: !tools.referenceFlipped });
    case "prompt":
      if (!bench.maySkip) return;
      focusNext.current = null;
      return tools.set({ skipping: true });
    case "stop":
      if (state.work.stop?.kind !== command.kind) focusNext.current = null;
      return act(turnStop(state.work, command.kind));
    case "submit":
      return submit(bench);
    case "leave":
      return leave(bench);
  }
}

/** Submits the work, or focuses what is missing. */
export function submit({ session, view: { state }, spend, act, say, focusNext }: Workbench): void {
  spend();
  if (session.submit()) return;
  if (!state) return;
  say(`${text.submit.notYet} ${whatNext(state)}`);
  const ready = readiness(state);
  if (ready.ready) return;
  if (ready.why === "asked") return focusQuestion(ready.what);
  if (ready.why !== "reason") {
    focusNext.current = "current";
    act({ type: "go", step: ready.next });
  }
}

/** Closes whatever is open beside the steps. */
export function leave({ view: { state }, act, tools, panels, marking, goBack, focusNext }: Workbench): void {
  const left = document.activeElement?.closest(".prompt, .panel");
  marking.leave();
  tools.set({ commenting: null, skipping: false, searching: false, goingTo: false });
  if (state?.work.stop && !state.work.stop.reason) act({ type: "continue" });
  panels.uncover();
  focusNext.current = null;
  if (left) goBack(left);
  else focusCurrent();
}

function writeOwn({ act, focusNext }: Workbench, state: State): void {
  const position = rows(state).find((row) => row.step.id === state.cursor)?.position ?? 0;
  const box = `.shown #own-${position}`;
  focusNext.current = box;
  if (state.scheme.choose_path) act({ type: "write_own", position });
  focus(box);
}

function focus(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}

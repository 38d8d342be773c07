import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Config } from "../config";
import { Explained } from "../practice/Known";
import type { Practice } from "../practice/practice";
import { PracticeEnd } from "../practice/PracticeEnd";
import { Verdict } from "../practice/Verdict";
import type { Desk } from "../session/desk";
import type { View } from "../session/view";
import { readiness, rows } from "../state/derived";
import type { Action, State } from "../state/model";
import { text } from "../text";
import { ActionBar, whatNext } from "./ActionBar";
import { useAccepting } from "./accepting";
import { Announcer, type Saying } from "./Announcer";
import { focusAsked } from "./AtError";
import { pressTool } from "./Beside";
import { Banners } from "./Banners";
import { GoTo } from "./GoTo";
import { Header, type Panel } from "./Header";
import { IdleScreen } from "./IdleScreen";
import { BlindRun } from "./blind_run";
import { useFocusClock } from "./focus";
import { focusCurrent, useWayBack } from "./keyboard";
import { commandOf, placeOf, type Command } from "./keys";
import { useMarking } from "./marking";
import { MiniMap } from "./MiniMap";
import { Problem, turnStop } from "./Problem";
import { SearchBar } from "./SearchBar";
import { useSearch } from "./searching";
import { coloursOf, lookOf, SchemeContext } from "./scheme";
import { SidePanel } from "./SidePanel";
import { BreakScreen, SittingPanel } from "./Sitting";
import { Sheets } from "./Sheets";

const SPEND_EVERY_MS = 5_000;
const WIDE = "(min-width: 1100px)";

/** What may be done while an explanation is read. */
const READING = new Set<Command["type"]>(["move", "go_to", "search", "reference", "submit", "leave"]);

interface Props {
  config: Config;
  session: Desk;
  view: View;
  /** The session where it is practice, else null. */
  practice: Practice | null;
}

export function App({ config, session, view, practice }: Props) {
  const clock = useFocusClock(session, config.pace.idleSeconds);
  const [panel, setPanel] = useState<Panel | null>(() => (matchMedia(WIDE).matches ? "guidelines" : null));
  const [skipping, setSkipping] = useState(false);
  const [searching, setSearching] = useState(false);
  const [goingTo, setGoingTo] = useState(false);
  const [commenting, setCommenting] = useState<number | null>(null);
  const [referenceFlipped, setReferenceFlipped] = useState(false);
  const [said, setSaid] = useState<Saying>({ words: "" });
  const focusNext = useRef<string | null>(null);
  const goBack = useWayBack();
  const say = (words: string) => setSaid({ words });
  const { task, state } = view;
  const lease = task?.lease.id;
  const scheme = task?.scheme ?? null;
  const explanation = view.practice?.explanation ?? null;
  const maySkip = !view.revising && !view.practice;

  // These are made once: rows are redrawn only when something of theirs changes.
  const hands = useMemo(() => {
    const spend = () => session.dispatch({ type: "spend", ms: clock.take() });
    return {
      spend,
      act: (action: Action) => session.dispatch({ type: "spend", ms: clock.take() }, action),
      comment: (step: number | null) => {
        setCommenting(step);
        focusNext.current = step === null ? "current" : `#comment-${step}`;
      },
    };
  }, [session, clock]);

  const search = useSearch(state, searching, hands.act);
  const accepting = useAccepting({ lease, state, act: hands.act, say });
  const marking = useMarking({ state, act: hands.act, say, focusNext });

  const submit = () => {
    hands.spend();
    if (session.submit()) return;
    if (state) say(`${text.submit.notYet} ${whatNext(state)}`);
    const ready = state && readiness(state);
    if (ready && !ready.ready && ready.why === "asked") return focusAsked(ready.what);
    if (ready && !ready.ready && ready.why !== "reason") {
      focusNext.current = "current";
      hands.act({ type: "go", step: ready.next });
    }
  };

  const resting = view.sitting.restingSince !== null;
  const shown = state !== null && !resting;

  const run = (command: Command): void => {
    if (command.type !== "go_to") setGoingTo(false);
    if (command.type === "panel") return turnPanel(command.panel);
    if (command.type === "break") return resting ? goOn() : shown && !practice ? rest() : undefined;
    if (command.type === "returned") return document.querySelector<HTMLElement>(".returned")?.click();
    if (command.type === "decide") return document.querySelector<HTMLElement>(".banners .decide")?.focus();
    if (!state || resting || (explanation && !READING.has(command.type))) return;
    focusNext.current = "current";
    const step = state.cursor;
    switch (command.type) {
      case "rate":
        return hands.act({ type: "rate", step, answer: command.answer });
      case "move":
        return hands.act({ type: "move", by: command.by });
      case "first_error":
        return accepting.firstError(step);
      case "flag":
      case "choose":
      case "hint":
        return hands.act({ type: command.type, step });
      case "no_error":
        return accepting.noError();
      case "undo":
      case "redo":
      case "complete":
        return hands.act({ type: command.type });
      case "own_step":
        return writeOwn(state);
      case "comment":
        return hands.comment(step);
      case "mark":
        return marking.mark();
      case "select_word":
        focusNext.current = null;
        return marking.select(command.by, command.extend);
      case "error_type":
        focusNext.current = null;
        return document.querySelector<HTMLElement>(".shown .step.current .error-types button")?.focus();
      case "tool":
        focusNext.current = null;
        return pressTool(command.tool);
      case "asked":
        focusNext.current = null;
        return focusAsked(command.what);
      case "go_to":
        focusNext.current = "#go-to";
        setSearching(false);
        return setGoingTo(true);
      case "search":
        focusNext.current = "#search";
        return setSearching(true);
      case "reference":
        return setReferenceFlipped(!referenceFlipped);
      case "prompt":
        if (!maySkip) return;
        focusNext.current = null;
        return setSkipping(true);
      case "stop":
        if (state.work.stop?.kind !== command.kind) focusNext.current = null;
        return hands.act(turnStop(state.work, command.kind));
      case "submit":
        return submit();
      case "leave":
        return leave();
    }
  };

  const rest = () => {
    hands.spend();
    session.rest();
    clock.sync();
  };
  const goOn = () => {
    focusNext.current = "current";
    session.goOn();
    clock.moved();
  };
  const writeOwn = (state: State) => {
    const position = rows(state).find((row) => row.step.id === state.cursor)?.position ?? 0;
    const box = `.shown #own-${position}`;
    focusNext.current = box;
    if (state.scheme.choose_path) hands.act({ type: "write_own", position });
    document.querySelector<HTMLElement>(box)?.focus();
  };

  /** Opens a panel with the keyboard in it, or closes it. */
  const turnPanel = (name: Panel) => {
    if (panel === name) return closePanel();
    focusNext.current = "#panel";
    setPanel(name);
  };
  const closePanel = () => {
    const open = document.querySelector("#panel");
    if (open?.contains(document.activeElement)) goBack(open);
    setPanel(null);
  };

  const leave = () => {
    const left = document.activeElement?.closest(".prompt, .panel");
    marking.leave();
    setCommenting(null);
    setSkipping(false);
    setSearching(false);
    setGoingTo(false);
    if (state?.work.stop && !state.work.stop.reason) hands.act({ type: "continue" });
    if (!matchMedia(WIDE).matches) setPanel(null);
    focusNext.current = null;
    if (left) goBack(left);
    else focusCurrent();
  };

  const shownSince = useRef<number | null>(null);
  useLayoutEffect(() => {
    shownSince.current = shown ? performance.now() : null;
  }, [shown]);

  // Keys come faster than effects run: the listener calls what the last drawing made, never an older one.
  const look = useMemo(() => lookOf(scheme), [scheme]);
  const shortcutsNow = useRef(look.shortcuts);
  shortcutsNow.current = look.shortcuts;
  const runNow = useRef(run);
  runNow.current = run;
  useEffect(() => {
    const blindRun = new BlindRun();
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      const blind = blindRun.takes(event.timeStamp, shownSince.current);
      const command = commandOf(event, placeOf(event.target), shortcutsNow.current);
      if (!command) return;
      event.preventDefault();
      if (blind && !["panel", "decide", "break", "returned"].includes(command.type)) return;
      runNow.current(command);
      // A key that changed nothing draws nothing: its wish must not take the keyboard from a later drawing.
      queueMicrotask(() => (focusNext.current = null));
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);

  useEffect(() => {
    const timers = [setInterval(hands.spend, SPEND_EVERY_MS), setInterval(beat, 1000 * config.heartbeatSeconds)];
    // A page that is only open is no sign of life: the solution comes free for others some time after the hand rests.
    function beat() {
      const atWork = clock.rested() < 1000 * Math.max(config.heartbeatSeconds, config.pace.idleSeconds);
      if (document.visibilityState === "visible" && atWork) void session.heartbeat();
    }
    return () => timers.forEach(clearInterval);
  }, [session, hands, config, clock]);

  // A new solution begins at its top, or where it was left, with the hands on its current step. Before the next
  // key: an effect that ran later would close what that key has opened.
  useLayoutEffect(() => {
    setSkipping(false);
    setSearching(false);
    setGoingTo(false);
    setCommenting(null);
    setReferenceFlipped(false);
    window.scrollTo(0, 0);
    // Whoever is deciding between two versions keeps the keyboard.
    if (!document.activeElement?.closest(".banners")) focusCurrent();
  }, [lease]);

  useLayoutEffect(() => {
    const wanted = focusNext.current;
    if (!wanted) return;
    focusNext.current = null;
    if (wanted === "current") focusCurrent();
    else document.querySelector<HTMLElement>(wanted)?.focus();
  });

  const referenceShown = (task?.scheme.reference === "shown") !== referenceFlipped;
  return (
    <SchemeContext.Provider value={look}>
      <Header config={config} view={view} panel={panel} onPanel={turnPanel} onSkip={() => focusCurrent()} />
      <Banners view={view} session={session} config={config} onBreak={rest} />
      <div class={panel ? "layout with-panel" : "layout"} style={coloursOf(scheme)}>
        {resting ? (
          <BreakScreen view={view} onGoOn={goOn} />
        ) : task && state ? (
          <>
            <Problem
              key={lease}
              task={task}
              work={state.work}
              referenceShown={referenceShown}
              onReference={() => setReferenceFlipped(!referenceFlipped)}
              onSkip={maySkip ? () => setSkipping(true) : null}
              act={hands.act}
            />
            <section class="solution" aria-label={text.solution.title} data-next={view.next ? "in-hand" : "awaited"}>
              {searching && <SearchBar search={search} onClose={leave} />}
              {goingTo && <GoTo state={state} act={hands.act} />}
              <Explained.Provider value={explanation}>
                <Sheets
                  lease={task.lease.id}
                  state={state}
                  next={view.next}
                  commenting={commenting}
                  revealed={search.hits[search.at] ?? null}
                  act={hands.act}
                  onComment={hands.comment}
                  onMark={marking.mark}
                  onFirstError={accepting.firstError}
                />
              </Explained.Provider>
              {view.practice && explanation ? (
                <Verdict explanation={explanation} last={view.practice.place === view.practice.of} onNext={submit} />
              ) : (
                <ActionBar
                  state={state}
                  skipping={skipping}
                  note={accepting.note}
                  onNoError={accepting.noError}
                  act={hands.act}
                  onSubmit={submit}
                  onSkip={(reason) => {
                    setSkipping(false);
                    session.skip(reason);
                  }}
                  onStay={leave}
                />
              )}
            </section>
          </>
        ) : view.practice && practice && view.idle.kind === "practised" ? (
          <PracticeEnd practice={view.practice} config={config} onAgain={(which) => practice.again(which)} />
        ) : (
          <IdleScreen view={view} config={config} onRetry={() => session.wake()} />
        )}
        <aside class="side">
          {state && !resting && <MiniMap state={state} hits={search.hits} act={hands.act} />}
          {panel && (
            <SidePanel
              panel={panel}
              guidelines={config.guidelines}
              examples={config.examples}
              onClose={closePanel}
              sitting={<SittingPanel view={view} session={session} onBreak={rest} />}
            />
          )}
        </aside>
      </div>
      <Announcer view={view} said={said} />
    </SchemeContext.Provider>
  );
}

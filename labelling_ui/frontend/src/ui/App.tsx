import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Config } from "../config";
import { Explained, Verdict } from "../practice/Explanation";
import type { Practice } from "../practice/practice";
import { BreakScreen, IdleScreen, PracticeEnd } from "./IdleScreen";
import type { Desk } from "../session/session";
import type { View } from "../session/view";
import type { Action } from "../state/model";
import { text } from "../text";
import { ActionBar } from "./ActionBar";
import { useAccepting } from "./accepting";
import { Announcer, type Saying } from "./Announcer";
import { Banners } from "./Banners";
import { useBeats, useFocusClock } from "./focus_clock";
import { leave, runCommand, submit, type Workbench } from "./commands";
import { GoTo, SearchBar, useSearch } from "./SearchBar";
import { Header } from "./Header";
import { focusCurrent, followCurrent, useWayBack } from "./keyboard";
import { useMarking } from "./marking";
import { MiniMap } from "./MiniMap";
import { usePanel, useTools } from "./tools";
import { usePresses } from "./pressing";
import { Problem } from "./Problem";
import { coloursOf, lookOf, SchemeContext } from "./scheme";
import { SidePanel } from "./SidePanel";
import { Sheets } from "./Sheets";

interface Props {
  config: Config;
  session: Desk;
  view: View;
  /** The session if it is practice, else null. */
  practice: Practice | null;
}

export function App({ config, session, view, practice }: Props) {
  const clock = useFocusClock(session, config.pace.idleSeconds);
  const [said, setSaid] = useState<Saying>({ words: "" });
  const focusNext = useRef<string | null>(null);
  const goBack = useWayBack();
  const tools = useTools(focusNext);
  const panels = usePanel(focusNext, goBack);
  const say = (words: string) => setSaid({ words });
  const { task, state } = view;
  const lease = task?.lease.id;
  const scheme = task?.scheme ?? null;
  const explanation = view.practice?.explanation ?? null;
  const maySkip = !view.revising && !view.practice;
  const resting = view.sitting.restingSince !== null;
  const look = useMemo(() => lookOf(scheme), [scheme]);

  // Created once: rows are redrawn only when their own values change.
  const { spend, act } = useMemo(() => {
    const spend = () => session.dispatch({ type: "spend", ms: clock.take() });
    const act = (action: Action) => session.dispatch({ type: "spend", ms: clock.take() }, action);
    return { spend, act };
  }, [session, clock]);

  const search = useSearch(state, tools.searching, act);
  const accepting = useAccepting({ lease, state, act, say });
  const marking = useMarking({ state, act, say, focusNext });

  const rest = () => {
    spend();
    session.rest?.();
    clock.sync();
  };
  const goOn = () => {
    focusNext.current = "current";
    session.goOn?.();
    clock.moved();
  };
  const bench: Workbench = {
    session,
    view,
    spend,
    act,
    say,
    tools,
    panels,
    accepting,
    marking,
    maySkip,
    rest: practice ? null : rest,
    goOn,
    goBack,
    focusNext,
  };

  usePresses({
    run: (command) => runCommand(bench, command),
    shortcuts: look.shortcuts,
    shown: state !== null && !resting,
    focusNext,
  });
  useBeats(session, config, clock, spend);

  // A new solution starts at its top, or where the person left it, with its current step focused. A layout effect
  // runs before the next key; a later effect would close what that key opened.
  useLayoutEffect(() => {
    tools.closeAll();
    window.scrollTo(0, 0);
    // A person who is deciding between two versions keeps the focus.
    if (!document.activeElement?.closest(".banners")) focusCurrent();
  }, [lease]);

  useLayoutEffect(followCurrent, [state?.cursor]);

  useLayoutEffect(() => {
    const wanted = focusNext.current;
    if (!wanted) return;
    focusNext.current = null;
    if (wanted === "current") focusCurrent();
    else document.querySelector<HTMLElement>(wanted)?.focus();
  });

  const referenceShown = (task?.scheme.reference === "shown") !== tools.referenceFlipped;
  return (
    <SchemeContext.Provider value={look}>
      <Header config={config} view={view} panel={panels.panel} onPanel={panels.turn} onSkip={() => focusCurrent()} />
      <Banners view={view} session={session} config={config} onBreak={rest} />
      <div class={panels.panel ? "layout with-panel" : "layout"} style={coloursOf(scheme)}>
        {resting ? (
          <BreakScreen view={view} onGoOn={goOn} />
        ) : task && state ? (
          <>
            <Problem
              key={lease}
              task={task}
              work={state.work}
              referenceShown={referenceShown}
              onReference={() => tools.set({ referenceFlipped: !tools.referenceFlipped })}
              onSkip={maySkip ? () => tools.set({ skipping: true }) : null}
              act={act}
            />
            <section class="solution" aria-label={text.solution.title} data-next={view.next ? "in-hand" : "awaited"}>
              {tools.searching && <SearchBar search={search} onClose={() => leave(bench)} />}
              {tools.goingTo && <GoTo state={state} act={act} />}
              <Explained.Provider value={explanation}>
                <Sheets
                  lease={task.lease.id}
                  state={state}
                  next={view.next}
                  commenting={tools.commenting}
                  revealed={search.hits[search.at] ?? null}
                  act={act}
                  onComment={tools.comment}
                  onMark={marking.mark}
                  onFirstError={accepting.firstError}
                />
              </Explained.Provider>
              {view.practice && explanation ? (
                <Verdict explanation={explanation} last={view.practice.place === view.practice.of} onNext={() => submit(bench)} />
              ) : (
                <ActionBar
                  lease={task.lease.id}
                  state={state}
                  skipping={tools.skipping}
                  note={accepting.note}
                  onNoError={accepting.noError}
                  act={act}
                  onSubmit={() => submit(bench)}
                  onSkip={(reason) => {
                    tools.set({ skipping: false });
                    session.skip?.(reason);
                  }}
                  onStay={() => leave(bench)}
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
          {state && !resting && <MiniMap state={state} hits={search.hits} act={act} />}
          {panels.panel && (
            <SidePanel panel={panels.panel} view={view} session={session} onClose={panels.close} onBreak={rest} />
          )}
        </aside>
      </div>
      <Announcer view={view} said={said} />
    </SchemeContext.Provider>
  );
}

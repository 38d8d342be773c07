import { useEffect } from "preact/hooks";
import type { Progress } from "../api/types";
import type { Config } from "../config";
import type { Idle, PracticeView, View } from "../session/view";
import { text, timeOf } from "../text";
import { KeyButton } from "./controls";

/** Shown while there is no work; more may follow. */
const MEANWHILE = new Set<Idle["kind"]>(["done", "not_started", "all_leased", "paused", "screening_failed", "screening_unready"]);

/** Replaces the solution: why there is none, and what to do. */
export function IdleScreen({ view, config, onRetry }: { view: View; config: Config; onRetry: () => void }) {
  const { idle, progress } = view;
  const next = config.sentBack?.nextUrl;
  const [title, otherwise] = text.idle[idle.kind];
  const waiting = idle.kind === "loading" || idle.kind === "sending";
  return (
    <div class="idle" role="status" aria-busy={waiting}>
      <h1>{title}</h1>
      {waiting && <Skeleton />}
      <p>{idle.kind === "unreachable" || idle.kind === "signed_out" ? otherwise : idle.message || otherwise}</p>
      {idle.kind === "screening_failed" && <p>{rightAnswers(progress?.screening)}</p>}
      {idle.retryAt && <p class="muted">{text.idle.again(timeOf(idle.retryAt))}</p>}
      {!waiting && (
        <div class="ways">
          {idle.kind === "revised" ? (
            <a class="primary" href={next ?? config.labelsUrl}>
              {next ? text.idle.nextSentBack : text.idle.labels}
            </a>
          ) : idle.kind === "signed_out" ? (
            <a class="primary" href={config.loginUrl}>
              {text.banner.signIn}
            </a>
          ) : (
            <button type="button" class="primary" onClick={onRetry}>
              {text.idle.lookAgain}
            </button>
          )}
          {idle.kind === "screening_failed" && config.screeningUrl && (
            <a class="quiet" href={config.screeningUrl}>
              {text.idle.screening}
            </a>
          )}
          {config.practiceUrl && !config.practice && MEANWHILE.has(idle.kind) && (
            <a class="quiet" href={config.practiceUrl}>
              {text.idle.practise}
            </a>
          )}
          <a class="quiet" href={idle.kind === "revised" ? config.labelUrl : config.homeUrl}>
            {idle.kind === "revised" ? text.idle.goOn : text.idle.home}
          </a>
        </div>
      )}
    </div>
  );
}

function Skeleton() {
  return (
    <div class="skeleton" aria-hidden="true">
      {[92, 78, 86, 60].map((width) => (
        <span key={width} style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}

interface PracticeEndProps {
  practice: PracticeView;
  config: Config;
  onAgain: (which: "all" | "missed") => void;
}

/** The end of the round: the result, and what to do next. */
export function PracticeEnd({ practice, config, onAgain }: PracticeEndProps) {
  const wrong = practice.total - practice.known;
  return (
    <div class="idle" role="status">
      <h1>{text.idle.practised[0]}</h1>
      <p>{text.practice.done(practice.known, practice.total)}</p>
      <div class="ways">
        <a class="primary" href={config.labelUrl}>
          {text.practice.label}
        </a>
        {wrong > 0 && (
          <button type="button" class="quiet" onClick={() => onAgain("missed")}>
            {text.practice.missed(wrong)}
          </button>
        )}
        <button type="button" class="quiet" onClick={() => onAgain("all")}>
          {text.practice.again}
        </button>
        <a class="quiet" href={config.homeUrl}>
          {text.idle.home}
        </a>
      </div>
    </div>
  );
}

/** Shown during a break. */
export function BreakScreen({ view: { heldUntil, sitting }, onGoOn }: { view: View; onGoOn: () => void }) {
  useEffect(() => document.querySelector<HTMLElement>(".idle .primary")?.focus(), []);
  return (
    <div class="idle" role="status">
      <h1>{text.sitting.resting(timeOf(sitting.restingSince ?? 0))}</h1>
      <p>{text.sitting.restingHelp}</p>
      {heldUntil !== null && <p class="muted">{text.sitting.stillYours(timeOf(heldUntil))}</p>}
      <div class="ways">
        <KeyButton about="break" class="primary" onClick={onGoOn}>
          {text.sitting.goOn}
        </KeyButton>
      </div>
    </div>
  );
}

/** How many screening answers were right, if the project shows it; else empty. */
export function rightAnswers(screening: Progress["screening"] | undefined): string {
  const { right = null, of = null } = screening ?? {};
  return right === null || of === null ? "" : text.screening.right(right, of);
}

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Config } from "../config";
import { idOf, newerVersion, type OutboxEntry, type Rivals } from "../outbox/outbox";
import type { Conflict } from "../session/draft_keeper";
import type { Desk } from "../session/session";
import type { View } from "../session/view";
import { answeredCount, type DraftBody, type Moved } from "../state/draft";
import { differences } from "../state/versions";
import { text, timeOf } from "../text";
import { rightAnswers } from "./IdleScreen";
import { useScheme } from "./scheme";

const MINUTE = 60_000;
const LEASE_CHECK_MS = 10_000;

interface Props {
  view: View;
  session: Desk;
  config: Config;
  onBreak: () => void;
}

/** Notices and decisions about saving the work; nothing when all is well. */
export function Banners(props: Props) {
  const { view, session, config } = props;
  const working = view.task || view.revising;
  return (
    <div class="banners" role="status" aria-atomic="false">
      {view.saved === "signed_out" && working && (
        <Banner>
          {text.banner.signedOut(config.user.name)}{" "}
          <a href={config.loginUrl} target="_blank" rel="noopener">
            {text.banner.signIn}
          </a>
        </Banner>
      )}
      {view.saved === "unreachable" && working && (
        <Banner>
          {text.banner.unreachable(view.waiting)} {view.trouble} <Button onClick={() => session.wake()}>{text.banner.retry}</Button>
        </Banner>
      )}
      {!view.durable && (view.waiting > 0 || !["saved", "saving"].includes(view.saved)) && <Banner>{text.banner.notDurable}</Banner>}
      {config.sentBack && view.revising && view.task && (
        <Banner>{text.banner.sentBack(config.sentBack.reason, config.sentBack.place, config.sentBack.of)}</Banner>
      )}
      {!view.revising && <ScreeningNews {...props} />}
      {view.leaseEnded && <Banner>{view.leaseEnded}</Banner>}
      {view.heldUntil !== null && view.sitting.restingSince === null && <LeaseNote {...props} heldUntil={view.heldUntil} />}
      <Proposal {...props} />
      {view.practice?.begins && view.task && <Banner calm>{text.practice.noLabels}</Banner>}
      {view.notice && <Banner>{view.notice}</Banner>}
      {view.guidelinesChanged && <NewGuidelines onUnderstood={() => session.readGuidelines?.()} />}
      {view.moved.length > 0 && <Changed moved={view.moved} onUnderstood={() => session.understood?.()} />}
      {view.conflict && <Choice conflict={view.conflict} onChoose={(choice) => session.settle?.(choice)} />}
      {view.refused.map((entry) => {
        const rivals = newerVersion(entry);
        const key = idOf(entry);
        if (rivals) return <Versions key={key} rivals={rivals} queuedAt={entry.queued_at} session={session} />;
        return <Refused key={key} entry={entry} session={session} />;
      })}
    </div>
  );
}

function Banner({ calm, children }: { calm?: boolean; children: ComponentChildren }) {
  return <p class={calm ? "banner calm" : "banner"}>{children}</p>;
}

/** A choice that the key for deciding leads to; `calm` ones can wait. */
function Button({ calm, onClick, children }: { calm?: boolean; onClick: () => void; children: ComponentChildren }) {
  return (
    <button type="button" class={calm ? "quiet" : "quiet decide"} onClick={onClick}>
      {children}
    </button>
  );
}

/** How a screening begins and how it ended, with what happens next. */
function ScreeningNews({ view, config }: Props) {
  const screening = view.progress?.screening;
  if (!screening || screening.outcome === "failed") return null; // the idle screen says so
  const { outcome, finished, items } = screening;
  if (outcome !== "passed" && finished > 0) return null;
  return (
    <Banner calm>
      {outcome === "passed" ? text.screening.passed : outcome === "again" ? text.screening.again(items) : text.screening.begins(items)}{" "}
      {rightAnswers(screening)}{" "}
      {outcome === "passed" && config.screeningUrl && <a href={config.screeningUrl}>{text.idle.screening}</a>}
    </Banner>
  );
}

/** Warns when the lease is about to expire; active work renews it long before. */
function LeaseNote({ heldUntil, config, session }: Props & { heldUntil: number }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), LEASE_CHECK_MS);
    return () => clearInterval(timer);
  }, []);
  const left = heldUntil - now;
  if (left > MINUTE * Math.min(5, config.leaseMinutes / 4)) return null;
  return (
    <Banner calm>
      {left > 0 ? text.sitting.runsOut(Math.ceil(left / MINUTE)) : text.sitting.ranOut}{" "}
      <Button calm onClick={() => void session.heartbeat?.()}>
        {text.sitting.keepIt}
      </Button>
    </Banner>
  );
}

/** Says that the goal is reached, or that a break is due. */
function Proposal({ view, onBreak, session }: Props) {
  const { proposal, done, workedMs, restingSince } = view.sitting;
  if (!proposal || restingSince !== null) return null;
  const reached = proposal === "goal";
  return (
    <Banner calm>
      {reached ? text.sitting.goalReached(done, Math.round(workedMs / MINUTE)) : text.sitting.breakDue}{" "}
      <Button calm onClick={onBreak}>
        {text.sitting.takeBreak}
      </Button>{" "}
      <Button calm onClick={() => session.putOff?.()}>
        {reached ? text.sitting.goOn : text.sitting.notNow}
      </Button>
    </Banner>
  );
}

function NewGuidelines({ onUnderstood }: { onUnderstood: () => void }) {
  const { keyOf } = useScheme();
  return (
    <Banner calm>
      {text.banner.guidelinesChanged(keyOf("guidelines"))}{" "}
      <Button calm onClick={onUnderstood}>
        {text.fitting.understood}
      </Button>
    </Banner>
  );
}

function Changed({ moved, onUnderstood }: { moved: readonly Moved[]; onUnderstood: () => void }) {
  return (
    <div class="banner calm">
      <p>{text.fitting.changed}</p>
      <ul>
        {moved.map(({ position, words }) => (
          <li key={words}>
            {position === null ? text.problem.note : text.step(position + 1)}: {words}
          </li>
        ))}
      </ul>
      <Button onClick={onUnderstood}>{text.fitting.understood}</Button>
    </div>
  );
}

function Choice({ conflict, onChoose }: { conflict: Conflict; onChoose: (choice: "mine" | "theirs") => void }) {
  const { mine, theirs } = conflict;
  const newer = mine.edited_at > theirs.edited_at ? "mine" : "theirs";
  const option = (choice: "mine" | "theirs", draft: DraftBody) => (
    <Button onClick={() => onChoose(choice)}>
      {text.banner[choice]}{" "}
      <span class="muted">
        ({text.banner.draft(timeOf(draft.edited_at), answeredCount(draft.work))}
        {choice === newer && `, ${text.banner.newer}`})
      </span>
    </Button>
  );
  return (
    <div class="banner">
      <p>{text.banner.conflict}</p>
      {option("mine", mine)} {option("theirs", theirs)}
    </div>
  );
}

function Refused({ entry, session }: { entry: OutboxEntry; session: Desk }) {
  const skipped = "skip" in entry;
  const ended = skipped ? entry.skip : entry.submission;
  const copy = `data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify(ended, null, 2))}`;
  const explain = skipped ? text.banner.refusedSkip : text.banner.refused;
  return (
    <div class="banner">
      <p>{explain(ended.solution, entry.refused?.message ?? "")}</p>
      <Button onClick={() => session.retry?.(idOf(entry))}>{text.banner.sendAgain}</Button>{" "}
      <a class="quiet" href={copy} download={`${skipped ? "" : "submission-"}${idOf(entry)}.json`}>
        {text.banner.download}
      </a>{" "}
      <Button onClick={() => session.dismiss?.(idOf(entry))}>{text.banner.dismiss}</Button>
    </div>
  );
}

/** Two conflicting versions of one label: their differences side by side, and the choice. */
function Versions({ rivals, queuedAt, session }: { rivals: Rivals; queuedAt: number; session: Desk }) {
  const { keyOf } = useScheme();
  const { mine, theirs } = rivals;
  const rows = differences(mine, theirs);
  const choose = (choice: "mine" | "theirs") => session.choose?.(mine.submission_id, choice);
  return (
    <section class="banner versions" aria-label={text.versions.title(mine.solution)}>
      <p>{text.versions.title(mine.solution)}</p>
      {rows.length === 0 ? (
        <p>{text.versions.same}</p>
      ) : (
        <table>
          <thead>
            <tr>
              <td />
              <th scope="col">{text.versions.mine(timeOf(queuedAt))}</th>
              <th scope="col">{text.versions.theirs(timeOf(theirs.submitted_at))}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.about}>
                <th scope="row">{row.about}</th>
                <td>{row.mine}</td>
                <td>{row.theirs}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="ways">
        <Button onClick={() => choose("mine")}>{text.versions.takeMine}</Button>{" "}
        <Button onClick={() => choose("theirs")}>{text.versions.takeTheirs}</Button>{" "}
        <span class="muted">{text.versions.bothStay(keyOf("decide"))}</span>
      </p>
    </section>
  );
}

import type { ComponentChildren } from "preact";
import type { Config } from "../config";
import { idOf } from "../outbox/ending";
import { newerVersion, type OutboxEntry } from "../outbox/outbox";
import type { Desk } from "../session/desk";
import type { View } from "../session/view";
import type { Conflict } from "../session/draft_keeper";
import { LeaseNote } from "./LeaseNote";
import { ScreeningNews } from "./Screening";
import { Proposal } from "./Sitting";
import type { Moved } from "../state/fitting";
import { answeredCount, type DraftBody } from "../state/draft";
import { text } from "../text";
import { timeOf } from "./clock";
import { Versions } from "./Versions";

interface Props {
  view: View;
  session: Desk;
  config: Config;
  onBreak: () => void;
}

/** What the person has to know or decide about keeping their work; nothing when all is well. */
export function Banners({ view, session, config, onBreak }: Props) {
  return (
    <div class="banners" role="status" aria-atomic="false">
      {view.saved === "signed_out" && (view.task || view.revising) && (
        <Banner>
          {text.banner.signedOut(config.user.name)}{" "}
          <a href={config.loginUrl} target="_blank" rel="noopener">
            {text.banner.signIn}
          </a>
        </Banner>
      )}
      {view.saved === "unreachable" && (view.task || view.revising) && (
        <Banner>
          {text.banner.unreachable(view.waiting)} {view.trouble} <Button onClick={() => session.wake()}>{text.banner.retry}</Button>
        </Banner>
      )}
      {!view.durable && (view.waiting > 0 || !["saved", "saving"].includes(view.saved)) && <Banner>{text.banner.notDurable}</Banner>}
      {config.sentBack && view.revising && view.task && (
        <Banner>{text.banner.sentBack(config.sentBack.reason, config.sentBack.place, config.sentBack.of)}</Banner>
      )}
      {!view.revising && <ScreeningNews screening={view.progress?.screening} config={config} />}
      {view.leaseEnded && <Banner>{view.leaseEnded}</Banner>}
      {view.heldUntil !== null && view.sitting.restingSince === null && (
        <LeaseNote heldUntil={view.heldUntil} leaseMinutes={config.leaseMinutes} onKeep={() => void session.heartbeat()} />
      )}
      <Proposal view={view} session={session} onBreak={onBreak} />
      {view.practice?.begins && view.task && <p class="banner calm">{text.practice.noLabels}</p>}
      {view.notice && <Banner>{view.notice}</Banner>}
      {view.moved.length > 0 && <Changed moved={view.moved} onUnderstood={() => session.understood()} />}
      {view.conflict && <Choice conflict={view.conflict} onChoose={(choice) => session.settle(choice)} />}
      {view.refused.map((entry) => {
        const rivals = newerVersion(entry);
        const key = idOf(entry);
        if (rivals) return <Versions key={key} rivals={rivals} queuedAt={entry.queued_at} session={session} />;
        return <Refused key={key} entry={entry} session={session} />;
      })}
    </div>
  );
}

function Banner({ children }: { children: ComponentChildren }) {
  return <p class="banner">{children}</p>;
}

function Button({ onClick, children }: { onClick: () => void; children: ComponentChildren }) {
  return (
    <button type="button" class="quiet decide" onClick={onClick}>
      {children}
    </button>
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
  const said = skipped ? text.banner.refusedSkip : text.banner.refused;
  return (
    <div class="banner">
      <p>{said(ended.solution, entry.refused?.message ?? "")}</p>
      <a class="quiet" href={copy} download={`${skipped ? "" : "submission-"}${idOf(entry)}.json`}>
        {text.banner.download}
      </a>{" "}
      <Button onClick={() => session.dismiss(idOf(entry))}>{text.banner.dismiss}</Button>
    </div>
  );
}

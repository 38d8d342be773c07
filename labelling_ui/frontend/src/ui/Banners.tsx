import type { ComponentChildren } from "preact";
import type { Config } from "../config";
import { newerVersion, type OutboxEntry } from "../outbox/outbox";
import type { Desk } from "../session/desk";
import type { View } from "../session/view";
import type { Conflict } from "../session/draft_keeper";
import { LeaseNote } from "./LeaseNote";
import { Proposal } from "./Sitting";
import { answeredCount, type DraftBody } from "../state/draft";
import { regional, text } from "../text";
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
    <div class="banners" role="status">
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
      {config.sentBack && view.revising && <Banner>{text.banner.sentBack(config.sentBack)}</Banner>}
      {view.leaseEnded && <Banner>{view.leaseEnded}</Banner>}
      {view.heldUntil !== null && view.sitting.restingSince === null && (
        <LeaseNote heldUntil={view.heldUntil} leaseMinutes={config.leaseMinutes} onKeep={() => void session.heartbeat()} />
      )}
      <Proposal view={view} session={session} onBreak={onBreak} />
      {view.notice && <Banner>{view.notice}</Banner>}
      {view.conflict && <Choice conflict={view.conflict} onChoose={(choice) => session.settle(choice)} />}
      {view.refused.map((entry) => {
        const kept = newerVersion(entry)?.kept;
        const key = entry.submission.submission_id;
        if (kept) return <Versions key={key} entry={entry} kept={kept} session={session} />;
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
  const { submission, refused } = entry;
  const copy = `data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify(submission, null, 2))}`;
  return (
    <div class="banner">
      <p>{text.banner.refused(submission.solution, refused?.message ?? "")}</p>
      <a class="quiet" href={copy} download={`submission-${submission.submission_id}.json`}>
        {text.banner.download}
      </a>{" "}
      <Button onClick={() => session.dismiss(submission.submission_id)}>{text.banner.dismiss}</Button>
    </div>
  );
}

export function timeOf(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return "";
  return date.toLocaleTimeString(regional(), { hour: "2-digit", minute: "2-digit" });
}

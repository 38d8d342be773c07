import { ApiError } from "../api/call";
import type { Api } from "../api/endpoints";
import type { OwnLabel, Submission } from "../api/types";
import type { DraftBody } from "../state/draft";
import { readJson, type Storage } from "../storage/storage";
import { Backoff } from "./backoff";

/** A solution that is given back to the queue, why, and what had been said of it by then. */
export interface Skip {
  lease: number;
  solution: number;
  reason: string;
  draft: DraftBody;
}

/** How the work on a solution ends: it is handed in, or skipped. */
export type Ending = { submission: Submission } | { skip: Skip };

/** The same ending sent twice is one: a lease is given back once, a submission has an id of its own. */
export function idOf(ending: Ending): string {
  return "skip" in ending ? `skip-${ending.skip.lease}` : ending.submission.submission_id;
}

export function leaseOf(ending: Ending): number | null {
  return "skip" in ending ? ending.skip.lease : ending.submission.lease;
}

/**
 * Brings it to the server, whose rules decide. A skip that comes after the lease ran out is kept, too; what was handed
 * in elsewhere meanwhile stands, and the skip of it says nothing any more.
 */
export async function deliver(api: Pick<Api, "submit" | "release">, ending: Ending): Promise<void> {
  if ("submission" in ending) return void (await api.submit(ending.submission));
  try {
    await api.release(ending.skip.lease, ending.skip.reason);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "lease_ended")) throw error;
  }
}

export type OutboxEntry = Ending & {
  /** Milliseconds since 1970, each later than the one before: the order of sending. */
  queued_at: number;
  /** Set when the server will never take it as it is; the entry is then kept for the person to see. */
  refused?: { code: string; message: string; extra: unknown };
};

type Delivery = "idle" | "sending" | "unreachable" | "signed_out";

interface OutboxOptions {
  storage: Storage;
  /** Keys start with this: one per user and project. */
  prefix: string;
  send: (ending: Ending) => Promise<void>;
  onChange: () => void;
  onDelivered: (ending: Ending) => void;
}

const FIRST_WAIT_MS = 1_000;

/** Two versions of a label: the one on its way, and the one that the server has by now, whose number is `revision`. */
export interface Rivals {
  mine: Submission;
  theirs: OwnLabel;
  revision: number;
}

/** What the server has instead, where it refused a submission that was made without knowing of it; else null. */
export function newerVersion(entry: OutboxEntry): Rivals | null {
  if ("skip" in entry || entry.refused?.code !== "revision_conflict") return null;
  const { latest, revision } = entry.refused.extra as { latest: OwnLabel; revision: number };
  return { mine: entry.submission, theirs: latest, revision };
}

/**
 * Ended work on its way to the server, in the order in which it was ended. An entry is written down before it is sent
 * and removed only when the server has it; its id makes sending it twice harmless, from two tabs included. Each entry
 * has a key of its own, so tabs never overwrite each other's.
 */
export class Outbox {
  delivery: Delivery = "idle";
  /** What the server says of its state, where it answered that it cannot take anything now. */
  trouble = "";
  private readonly backoff = new Backoff(FIRST_WAIT_MS);
  private timer: ReturnType<typeof setTimeout> | undefined;
  private running: Promise<void> | null = null;
  private askedAgain = false;

  constructor(private readonly options: OutboxOptions) {}

  put(ending: Ending): void {
    const last = this.entries().at(-1)?.queued_at ?? 0;
    this.write({ ...ending, queued_at: Math.max(Date.now(), last + 1) });
    this.options.onChange();
  }

  waiting(): OutboxEntry[] {
    return this.entries().filter((entry) => !entry.refused);
  }

  refused(): OutboxEntry[] {
    return this.entries().filter((entry) => entry.refused);
  }

  /** The person has dealt with a refused entry. */
  dismiss(id: string): void {
    this.options.storage.remove(this.options.prefix + id);
    this.options.onChange();
  }

  /** The person has chosen between a refused entry and the newer version: it becomes the newest, or is dropped. */
  choose(submissionId: string, choice: "mine" | "theirs"): void {
    const entry = this.refused().find((one) => idOf(one) === submissionId);
    const rivals = entry && newerVersion(entry);
    if (!rivals) return;
    if (choice === "theirs") return this.dismiss(submissionId);
    this.write({ submission: { ...rivals.mine, based_on: rivals.revision }, queued_at: entry.queued_at });
    this.options.onChange();
    void this.flush();
  }

  /**
   * Sends all that waits, oldest first; what cannot be sent now is tried again later, by itself. An attempt that was
   * under way when the network came back, and failed, says nothing of it: the next one follows at once.
   */
  flush(): Promise<void> {
    this.askedAgain = this.running !== null;
    this.running ??= this.sendAll().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  private async sendAll(): Promise<void> {
    clearTimeout(this.timer);
    for (let entry = this.waiting()[0]; entry; entry = this.waiting()[0]) {
      this.become("sending");
      try {
        await this.options.send(entry);
        this.options.storage.remove(this.options.prefix + idOf(entry));
        this.backoff.reset();
        this.trouble = "";
        this.options.onDelivered(entry);
      } catch (error) {
        this.trouble = error instanceof ApiError ? error.message : "";
        if (!(error instanceof ApiError) || error.temporary) return this.tryLater("unreachable");
        if (error.signedOut) return this.tryLater("signed_out");
        const { code, message, extra } = error;
        this.write({ ...entry, refused: { code, message, extra } });
      }
    }
    this.become("idle");
  }

  private tryLater(delivery: Delivery): void {
    this.become(delivery);
    this.timer = setTimeout(() => void this.flush(), this.askedAgain ? 0 : this.backoff.next());
  }

  private become(delivery: Delivery): void {
    this.delivery = delivery;
    this.options.onChange();
  }

  private entries(): OutboxEntry[] {
    const { storage, prefix } = this.options;
    return storage
      .keys(prefix)
      .map((key) => readJson<OutboxEntry>(storage, key))
      .filter((entry): entry is OutboxEntry => entry !== null)
      .sort((a, b) => a.queued_at - b.queued_at);
  }

  private write(entry: OutboxEntry): void {
    this.options.storage.set(this.options.prefix + idOf(entry), JSON.stringify(entry));
  }
}

/** A random version-4 UUID. `crypto.randomUUID` is missing on plain http, where a small team may well run this. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

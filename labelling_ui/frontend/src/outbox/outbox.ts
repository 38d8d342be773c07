import { ApiError } from "../api/call";
import type { Api } from "../api/endpoints";
import type { Claim, OwnLabel, Submission } from "../api/types";
import type { DraftBody } from "../state/draft";
import { readJson, type Storage } from "../storage/storage";
import { Backoff } from "./backoff";

/** A solution that is returned to the queue, with the reason and the work done so far. */
export interface Skip {
  lease: number;
  solution: number;
  reason: string;
  draft: DraftBody;
}

/** How work on a solution ends: by a submission or a skip. */
export type Ending = { submission: Submission } | { skip: Skip };

/** Sending the same ending twice is harmless: a lease is returned once, a submission has its own id. */
export function idOf(ending: Ending): string {
  return "skip" in ending ? `skip-${ending.skip.lease}` : ending.submission.submission_id;
}

export function leaseOf(ending: Ending): number | null {
  return "skip" in ending ? ending.skip.lease : ending.submission.lease;
}

/**
 * Sends the ending to the server, whose rules decide; returns the next task if the answer has it. A skip after the lease
 * expired is stored too; a submission made elsewhere in the meantime stays.
 */
export async function deliver(api: Pick<Api, "submit" | "release">, ending: Ending): Promise<Claim | null> {
  if ("submission" in ending) return (await api.submit(ending.submission)).next ?? null;
  try {
    await api.release(ending.skip.lease, ending.skip.reason);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "lease_ended")) throw error;
  }
  return null;
}

export type OutboxEntry = Ending & {
  /** Milliseconds since 1970, strictly increasing: the order of sending. */
  queued_at: number;
  /** Set when the server will never accept the entry; it is then kept for the person to see. */
  refused?: { code: string; message: string; extra: unknown };
};

type Delivery = "idle" | "sending" | "unreachable" | "signed_out";

interface OutboxOptions {
  storage: Storage;
  /** Prefix of the keys: one per user and project. */
  prefix: string;
  /** `retried` if the latest attempt failed. */
  send: (ending: Ending, retried: boolean) => Promise<Claim | null>;
  onChange: () => void;
  onDelivered: (ending: Ending, next: Claim | null) => void;
}

const FIRST_WAIT_MS = 1_000;

/** Two versions of a label: the one being sent, and the server's newer one with its number `revision`. */
export interface Rivals {
  mine: Submission;
  theirs: OwnLabel;
  revision: number;
}

/** The server's version if it refused a submission made without it; else null. */
export function newerVersion(entry: OutboxEntry): Rivals | null {
  if ("skip" in entry || entry.refused?.code !== "revision_conflict") return null;
  const { latest, revision } = entry.refused.extra as { latest: OwnLabel; revision: number };
  return { mine: entry.submission, theirs: latest, revision };
}

/**
 * Finished work on its way to the server, in the order in which it was finished. An entry is stored before it is sent
 * and removed once the server has it. Its id makes sending twice harmless, also from two tabs. Each entry has its own
 * key, so tabs never overwrite each other's.
 */
export class Outbox {
  delivery: Delivery = "idle";
  /** The server's explanation if it cannot accept anything now. */
  trouble = "";
  private readonly backoff = new Backoff(FIRST_WAIT_MS);
  private timer: ReturnType<typeof setTimeout> | undefined;
  private running: Promise<void> | null = null;
  private askedAgain = false;
  private retrying = false;

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

  /** Removes a refused entry that the person has dealt with. */
  dismiss(id: string): void {
    this.options.storage.remove(this.options.prefix + id);
    this.options.onChange();
  }

  /** Sends a refused entry again: its reason may be gone, such as a membership that had ended. */
  retry(id: string): void {
    const entry = this.refused().find((one) => idOf(one) === id);
    if (!entry) return;
    this.write({ ...entry, refused: undefined });
    this.options.onChange();
    void this.flush();
  }

  /**
   * Applies the person's choice between a refused entry and the newer version: the entry becomes the newest, or is
   * dropped.
   */
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
   * Sends all entries, oldest first, and retries later what cannot be sent now. If an attempt fails that began before
   * the network came back, the next one follows at once.
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
        const next = await this.options.send(entry, this.retrying);
        this.retrying = false;
        this.options.storage.remove(this.options.prefix + idOf(entry));
        this.backoff.reset();
        this.trouble = "";
        this.options.onDelivered(entry, next);
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
    this.retrying = true;
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

/** A random version-4 UUID. `crypto.randomUUID` is missing on plain HTTP, which a small team may use. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

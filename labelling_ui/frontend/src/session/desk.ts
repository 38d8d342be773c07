import type { Session } from "./session";

/** What the page asks of whoever keeps the work: a session on the queue, or practice. */
export type Desk = Pick<
  Session,
  | "dispatch"
  | "submit"
  | "skip"
  | "wake"
  | "heartbeat"
  | "settle"
  | "understood"
  | "dismiss"
  | "choose"
  | "aim"
  | "putOff"
  | "rest"
  | "goOn"
  | "resting"
>;

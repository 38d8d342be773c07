import { ApiError } from "../api/call";
import type { Api } from "../api/endpoints";

/**
 * Until when the solutions in hand are the person's. Each sign of life gives them their full time again, counted from
 * here: the clock of this computer need not agree with the server's.
 */
export class Leases {
  private readonly ends = new Map<number, number>();

  constructor(
    private readonly api: Pick<Api, "heartbeat">,
    private readonly ms: number,
  ) {}

  /** The server has given it at this moment. */
  begin(lease: number): void {
    this.ends.set(lease, Date.now() + this.ms);
  }

  /** Milliseconds since 1970; null where it is not known. */
  endOf(lease: number): number | null {
    return this.ends.get(lease) ?? null;
  }

  forget(lease: number): void {
    this.ends.delete(lease);
  }

  /** A sign of life. Null while the lease holds or nothing is known, else what the server says of its end. */
  async renew(lease: number): Promise<string | null> {
    try {
      await this.api.heartbeat(lease);
      this.begin(lease);
    } catch (error) {
      if (error instanceof ApiError && !error.temporary && !error.signedOut) {
        this.forget(lease);
        return error.message;
      }
    }
    return null;
  }
}

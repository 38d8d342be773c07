import { ApiError } from "../api/call";
import type { Api } from "../api/endpoints";

/**
 * When the leases expire. Each heartbeat renews them for their full duration, counted on this computer's clock, which
 * may differ from the server's.
 */
export class Leases {
  private readonly ends = new Map<number, number>();

  constructor(
    private readonly api: Pick<Api, "heartbeat">,
    private readonly ms: number,
  ) {}

  /** The lease was granted now. */
  begin(lease: number): void {
    this.ends.set(lease, Date.now() + this.ms);
  }

  /** Milliseconds since 1970; null if unknown. */
  endOf(lease: number): number | null {
    return this.ends.get(lease) ?? null;
  }

  forget(lease: number): void {
    this.ends.delete(lease);
  }

  /** Sends a heartbeat. Null while the lease holds or nothing is known, else the server's reason for its end. */
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

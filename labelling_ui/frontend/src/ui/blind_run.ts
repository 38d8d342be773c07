/** Hands that rest this long have ended one run of typing; what comes next is a new one. */
const REST_MS = 400;

/**
 * A run of typing that began while no solution was on the screen. Its presses mean nothing of the solution that
 * arrives among them: words typed blindly would rate it, and an `e` would end it.
 */
export class BlindRun {
  private last = -Infinity;

  /** Whether a press belongs to such a run: made at `at`, with a solution shown since `shownSince`, null for none. */
  takes(at: number, shownSince: number | null): boolean {
    const sighted = shownSince !== null && at >= shownSince && at - this.last >= REST_MS;
    if (!sighted) this.last = at;
    return !sighted;
  }
}

import type { Progress } from "../api/types";
import type { Config } from "../config";
import { text } from "../text";

type Screening = NonNullable<Progress["screening"]>;

/** How a screening begins and how it ended, with what comes next; nothing in between. */
export function ScreeningNews({ screening, config }: { screening: Screening | null | undefined; config: Config }) {
  if (!screening || screening.outcome === "failed") return null; // who failed has no work, and is told in its place
  const { outcome, given, items } = screening;
  if (outcome !== "passed" && given > 0) return null;
  return (
    <p class="banner calm">
      {outcome === "passed" ? text.screening.passed : outcome === "again" ? text.screening.again(items) : text.screening.begins(items)}{" "}
      {rightAnswers(screening)}{" "}
      {outcome === "passed" && config.screeningUrl && <a href={config.screeningUrl}>{text.idle.screening}</a>}
    </p>
  );
}

/** How many answers were right, where the project tells; else empty. */
export function rightAnswers(screening: Screening | null | undefined): string {
  const { right = null, of = null } = screening ?? {};
  return right === null || of === null ? "" : text.screening.right(right, of);
}

/** How far it is, while it lasts. */
export function ScreeningPlace({ screening }: { screening: Screening | null | undefined }) {
  if (!screening || screening.given >= screening.items) return null;
  return <span class="each">{text.screening.place(screening.given, screening.items)}</span>;
}

import type { Rivals } from "../outbox/outbox";
import type { Desk } from "../session/desk";
import { differences } from "../state/versions";
import { text } from "../text";
import { timeOf } from "./clock";

/** Two versions of one label, made without knowing of each other: what differs, side by side, and the choice. */
export function Versions({ rivals, queuedAt, session }: { rivals: Rivals; queuedAt: number; session: Desk }) {
  const { given, kept } = rivals;
  const rows = differences(kept, given);
  const choose = (choice: "mine" | "theirs") => session.choose(given.submission_id, choice);
  return (
    <section class="banner versions" aria-label={text.versions.title(given.solution)}>
      <p>{text.versions.title(given.solution)}</p>
      {rows.length === 0 ? (
        <p>{text.versions.same}</p>
      ) : (
        <table>
          <thead>
            <tr>
              <td />
              <th scope="col">{text.versions.given(timeOf(new Date(queuedAt).toISOString()))}</th>
              <th scope="col">{text.versions.kept(timeOf(kept.submitted_at))}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.about}>
                <th scope="row">{row.about}</th>
                <td>{row.given}</td>
                <td>{row.kept}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="ways">
        <button type="button" class="quiet decide" onClick={() => choose("mine")}>
          {text.versions.takeGiven}
        </button>{" "}
        <button type="button" class="quiet decide" onClick={() => choose("theirs")}>
          {text.versions.takeKept}
        </button>{" "}
        <span class="muted">{text.versions.bothStay}</span>
      </p>
    </section>
  );
}

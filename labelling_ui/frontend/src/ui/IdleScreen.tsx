import type { Config } from "../config";
import type { Idle, View } from "../session/view";
import { text } from "../text";
import { timeOf } from "./clock";
import { rightAnswers } from "./Screening";

/** While there is no work, and may be some later. */
const MEANWHILE = new Set<Idle["kind"]>(["done", "all_leased", "paused", "screening_failed", "screening_unready"]);

/** In place of a solution: why there is none, and what to do. */
export function IdleScreen({ view, config, onRetry }: { view: View; config: Config; onRetry: () => void }) {
  const { idle, progress } = view;
  const next = config.sentBack?.nextUrl;
  const [title, otherwise] = text.idle[idle.kind];
  const waiting = idle.kind === "loading" || idle.kind === "sending";
  return (
    <div class="idle" role="status" aria-busy={waiting}>
      <h1>{title}</h1>
      {waiting && <Skeleton />}
      <p>{idle.kind === "unreachable" || idle.kind === "signed_out" ? otherwise : idle.message || otherwise}</p>
      {idle.kind === "screening_failed" && <p>{rightAnswers(progress?.screening)}</p>}
      {idle.retryAt && <p class="muted">{text.idle.again(timeOf(idle.retryAt))}</p>}
      {!waiting && (
        <div class="ways">
          {idle.kind === "revised" ? (
            <a class="primary" href={next ?? config.labelsUrl}>
              {next ? text.idle.nextSentBack : text.idle.labels}
            </a>
          ) : idle.kind === "signed_out" ? (
            <a class="primary" href={config.loginUrl}>
              {text.banner.signIn}
            </a>
          ) : (
            <button type="button" class="primary" onClick={onRetry}>
              {text.idle.lookAgain}
            </button>
          )}
          {idle.kind === "screening_failed" && config.screeningUrl && (
            <a class="quiet" href={config.screeningUrl}>
              {text.idle.screening}
            </a>
          )}
          {config.practiceUrl && !config.practice && MEANWHILE.has(idle.kind) && (
            <a class="quiet" href={config.practiceUrl}>
              {text.idle.practise}
            </a>
          )}
          <a class="quiet" href={idle.kind === "revised" ? config.labelUrl : config.homeUrl}>
            {idle.kind === "revised" ? text.idle.goOn : text.idle.home}
          </a>
        </div>
      )}
    </div>
  );
}

function Skeleton() {
  return (
    <div class="skeleton" aria-hidden="true">
      {[92, 78, 86, 60].map((width) => (
        <span key={width} style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}

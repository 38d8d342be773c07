import type { Config } from "../config";
import type { Idle } from "../session/view";
import { text } from "../text";
import { timeOf } from "./Banners";

/** In place of a solution: why there is none, and what to do. */
export function IdleScreen({ idle, config, onRetry }: { idle: Idle; config: Config; onRetry: () => void }) {
  const [title, otherwise] = text.idle[idle.kind];
  const waiting = idle.kind === "loading" || idle.kind === "sending";
  return (
    <div class="idle" role="status" aria-busy={waiting}>
      <h1>{title}</h1>
      {waiting && <Skeleton />}
      <p>{idle.kind === "unreachable" || idle.kind === "signed_out" ? otherwise : idle.message || otherwise}</p>
      {idle.retryAt && <p class="muted">{text.idle.again(timeOf(idle.retryAt))}</p>}
      {!waiting && (
        <div class="ways">
          {idle.kind === "revised" ? (
            <a class="primary" href={config.labelsUrl}>
              {text.idle.labels}
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

import type { Config } from "../config";
import type { View } from "../session/view";
import { text } from "../text";
import { KeyButton } from "./controls";
import { useScheme } from "./scheme";
import { Term } from "./Term";

export type Panel = "guidelines" | "keys" | "sitting";

interface Props {
  config: Config;
  view: View;
  panel: Panel | null;
  onPanel: (panel: Panel) => void;
  /** A link to the current step. */
  onSkip: () => void;
}

export function Header({ config, view, panel, onPanel, onSkip }: Props) {
  const { progress, sitting, practice } = view;
  const { keyOf } = useScheme();
  const screening = progress?.screening;
  return (
    <header class="top">
      {view.state && (
        <button type="button" class="skip" onClick={onSkip}>
          {text.header.skip}
        </button>
      )}
      <a class="brand" href="/">
        <img src={config.markUrl} alt="" width="24" height="24" />
        <span>{text.header.brand}</span>
      </a>
      <a class="project" dir="auto" href={config.homeUrl}>
        {config.project.name}
      </a>
      <span class="crumb" aria-hidden="true">
        › {practice ? text.practice.title : text.header.labelling}
      </span>
      <p class="numbers">
        {(progress || sitting.goal > 0) && (
          <span class="today">
            <button type="button" class="link" aria-expanded={panel === "sitting"} onClick={() => onPanel("sitting")}>
              {sitting.goal > 0 ? text.sitting.ofGoal(sitting.done, sitting.goal) : text.header.today(progress!.today)}
            </button>
          </span>
        )}
        {!!progress?.sent_back && (
          <a class="returned" href={config.sentBackUrl} aria-keyshortcuts={keyOf("returned")}>
            {text.header.sentBack(progress.sent_back)}
          </a>
        )}
        {screening && screening.finished < screening.items && (
          <span class="each">
            <Term about="screening">{text.screening.place(screening.finished, screening.items)}</Term>
          </span>
        )}
        {progress?.median_seconds != null && <span class="each">{text.header.each(progress.median_seconds)}</span>}
        {practice ? (
          practice.of > 0 && (
            <>
              <span class="today">{text.practice.place(practice.place, practice.of)}</span>
              <span class="each">{text.practice.right(practice.right)}</span>
            </>
          )
        ) : (
          <span class={`saved ${view.saved}`} data-saved={view.saved}>
            {text.header[view.saved]}
          </span>
        )}
      </p>
      <KeyButton about="guidelines" aria-expanded={panel === "guidelines"} onClick={() => onPanel("guidelines")}>
        {text.panel.guidelines}
      </KeyButton>
      <KeyButton about="keys" class="quiet open-keys" aria-expanded={panel === "keys"} onClick={() => onPanel("keys")}>
        {text.panel.keys}
      </KeyButton>
      <span class="user" title={config.user.name}>
        {config.user.name}
      </span>
    </header>
  );
}

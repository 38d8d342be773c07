import type { Config } from "../config";
import type { PracticeView, View } from "../session/view";
import { text } from "../text";
import { useScheme } from "./scheme";
import { ScreeningPlace } from "./Screening";

export type Panel = "guidelines" | "keys" | "sitting";

interface Props {
  config: Config;
  view: View;
  panel: Panel | null;
  onPanel: (panel: Panel) => void;
  /** To the step that is worked on. */
  onSkip: () => void;
}

export function Header({ config, view, panel, onPanel, onSkip }: Props) {
  const { progress, sitting, practice } = view;
  const { keyOf } = useScheme();
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
        <ScreeningPlace screening={progress?.screening} />
        {progress?.median_seconds != null && <span class="each">{text.header.each(progress.median_seconds)}</span>}
        {practice ? (
          <Place practice={practice} />
        ) : (
          <span class={`saved ${view.saved}`} data-saved={view.saved}>
            {text.header[view.saved]}
          </span>
        )}
      </p>
      <button type="button" class="quiet" aria-expanded={panel === "guidelines"} aria-keyshortcuts={keyOf("guidelines")} onClick={() => onPanel("guidelines")}>
        <span class="label">{text.header.guidelines}</span> <kbd aria-hidden="true">{keyOf("guidelines")}</kbd>
      </button>
      <button type="button" class="quiet open-keys" aria-expanded={panel === "keys"} aria-keyshortcuts={keyOf("keys")} onClick={() => onPanel("keys")}>
        <span class="label">{text.header.keys}</span> <kbd aria-hidden="true">{keyOf("keys")}</kbd>
      </button>
      <span class="user">{config.user.name}</span>
    </header>
  );
}

function Place({ practice }: { practice: PracticeView }) {
  const { place, of, right } = practice;
  if (of === 0) return null;
  return (
    <>
      <span class="today">{text.practice.place(place, of)}</span>
      <span class="each">{text.practice.right(right)}</span>
    </>
  );
}

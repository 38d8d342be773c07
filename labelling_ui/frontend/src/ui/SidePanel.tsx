import type { ComponentChildren } from "preact";
import type { Example } from "../api/types";
import { text } from "../text";
import { Guidelines } from "./Guidelines";
import type { Panel } from "./Header";
import { Shortcuts } from "./Shortcuts";

interface Props {
  panel: Panel;
  guidelines: string;
  examples: Example[];
  onClose: () => void;
  /** What the panel of that name holds. */
  sitting: ComponentChildren;
}

/** Beside the work where there is room, a sheet over it where there is not. */
export function SidePanel({ panel, guidelines, examples, onClose, sitting }: Props) {
  return (
    <section class="panel" id="panel" tabIndex={-1} aria-label={text.panel[panel]}>
      <div class="panel-head">
        <h2>{text.panel[panel]}</h2>
        <button type="button" class="quiet" aria-label={text.panel.close} onClick={onClose}>
          ✕
        </button>
      </div>
      {panel === "guidelines" && <Guidelines guidelines={guidelines} examples={examples} />}
      {panel === "keys" && <Shortcuts />}
      {panel === "sitting" && sitting}
    </section>
  );
}

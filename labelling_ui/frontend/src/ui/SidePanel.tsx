import type { ComponentChildren } from "preact";
import { RichText } from "../reading/RichText";
import { unwrap } from "../reading/unwrap";
import { text } from "../text";
import type { Panel } from "./Header";
import { useScheme } from "./scheme";
import { Shortcuts } from "./Shortcuts";
import { Sign } from "./signs";

interface Props {
  panel: Panel;
  guidelines: string;
  onClose: () => void;
  /** What the panel of that name holds. */
  sitting: ComponentChildren;
}

/** Beside the work where there is room, a sheet over it where there is not. */
export function SidePanel({ panel, guidelines, onClose, sitting }: Props) {
  return (
    <section class="panel" id="panel" aria-label={text.panel[panel]}>
      <div class="panel-head">
        <h2>{text.panel[panel]}</h2>
        <button type="button" class="quiet" aria-label={text.panel.close} onClick={onClose}>
          ✕
        </button>
      </div>
      {panel === "guidelines" && <Guidelines guidelines={guidelines} />}
      {panel === "keys" && <Shortcuts />}
      {panel === "sitting" && sitting}
    </section>
  );
}

function Guidelines({ guidelines }: { guidelines: string }) {
  const { answers } = useScheme();
  if (guidelines.trim()) return <RichText text={unwrap(guidelines)} />;
  return (
    <dl class="legend">
      {answers.map(({ answer, name, help }) => (
        <div key={answer}>
          <dt>
            <Sign answer={answer} /> {name}
          </dt>
          <dd>{help}</dd>
        </div>
      ))}
    </dl>
  );
}

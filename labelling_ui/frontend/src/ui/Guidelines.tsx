import type { Example } from "../api/types";
import { RichText } from "../reading/RichText";
import { unwrap } from "../reading/unwrap";
import { text } from "../text";
import { useScheme, type Look } from "./scheme";
import { Sign } from "./signs";

/** What the project asks for, and steps that deserve each rating. */
export function Guidelines({ guidelines, examples }: { guidelines: string; examples: Example[] }) {
  const { answers } = useScheme();
  return (
    <>
      {guidelines.trim() ? <RichText text={unwrap(guidelines)} /> : <Legend />}
      {answers.map((look) => (
        <Examples key={look.answer} look={look} examples={examples.filter(({ rating }) => rating === look.answer)} />
      ))}
    </>
  );
}

function Legend() {
  const { answers } = useScheme();
  return (
    <dl class="legend">
      {answers.map(({ answer, name, help }) => (
        <div key={answer}>
          <dt>
            <Sign answer={answer} /> <span>{name}</span>
          </dt>
          <dd>{help}</dd>
        </div>
      ))}
    </dl>
  );
}

function Examples({ look: { answer, name }, examples }: { look: Look; examples: Example[] }) {
  if (examples.length === 0) return null;
  return (
    <section class="examples" aria-labelledby={`examples-${answer}`}>
      <h3 id={`examples-${answer}`}>
        <Sign answer={answer} /> {text.panel.examples(name)}
      </h3>
      {examples.map((example, index) => (
        <figure key={index}>
          {example.before && (
            <div class="before">
              <RichText text={unwrap(example.before)} />
            </div>
          )}
          <blockquote>
            <RichText text={unwrap(example.step)} />
          </blockquote>
          {example.why && (
            <figcaption>
              <RichText text={unwrap(example.why)} />
            </figcaption>
          )}
        </figure>
      ))}
    </section>
  );
}

import { useState } from "preact/hooks";
import type { Task } from "../api/types";
import { RichText } from "../reading/RichText";
import type { Action, Stop, Work } from "../state/model";
import { text } from "../text";
import { Field, KeyButton } from "./controls";
import { Term } from "./Term";

interface Props {
  task: Task;
  work: Work;
  referenceShown: boolean;
  onReference: () => void;
  /** Null if the solution cannot be skipped. */
  onSkip: (() => void) | null;
  act: (action: Action) => void;
}

const STOPS: Stop["kind"][] = ["bad_problem", "give_up"];

/** The action of the key or button for giving up or a bad problem: it ends the work, or reopens it. */
export function turnStop(work: Work, kind: Stop["kind"]): Action {
  return work.stop?.kind === kind ? { type: "continue" } : { type: "stop", kind, reason: "" };
}

/** The problem, its reference, and the ways out. On a narrow screen it folds to its first line. */
export function Problem({ task, work, referenceShown, onReference, onSkip, act }: Props) {
  const [unfolded, setUnfolded] = useState(false);
  const [noting, setNoting] = useState(work.comment !== "");
  const { problem } = task;
  const firstLine = problem.text.trim().split("\n")[0] ?? "";
  return (
    <section class={unfolded ? "problem unfolded" : "problem"} aria-label={text.problem.title}>
      <button
        type="button"
        class="fold"
        aria-expanded={unfolded}
        onClick={() => setUnfolded(!unfolded)}
      >
        <span class="visually-hidden">{unfolded ? text.problem.fold : text.problem.unfold}</span>
        <span class="first-line">{unfolded ? text.problem.title : <RichText text={firstLine} />}</span>
        <span aria-hidden="true" class="chevron" />
      </button>
      <div class="whole">
        <h2>{text.problem.title}</h2>
        <RichText text={problem.text} />
        <Reference task={task} work={work} shown={referenceShown} onToggle={onReference} act={act} />
        <div class="ways">
          {STOPS.map((kind) => (
            <KeyButton key={kind} about={kind} aria-pressed={work.stop?.kind === kind} onClick={() => act(turnStop(work, kind))}>
              {text.problem.stops[kind]}
            </KeyButton>
          ))}
          {onSkip && (
            <KeyButton about="skip" onClick={onSkip}>
              {text.problem.skip}
            </KeyButton>
          )}
          {!noting && (
            <button type="button" class="quiet" onClick={() => setNoting(true)}>
              {text.problem.addNote}
            </button>
          )}
        </div>
        {noting && (
          <Field
            label={text.problem.note}
            rows={3}
            value={work.comment}
            onInput={(event) => act({ type: "comment", value: event.currentTarget.value })}
          />
        )}
      </div>
    </section>
  );
}

type ReferenceProps = Pick<Props, "task" | "work" | "act"> & { shown: boolean; onToggle: () => void };

function Reference({ task, work, shown, onToggle, act }: ReferenceProps) {
  const { reference_answer: answer, reference_solution: solution } = task.problem;
  if (!answer && !solution) return null;
  return (
    <div class="reference">
      <KeyButton about="reference" aria-expanded={shown} onClick={onToggle}>
        {shown ? text.problem.hideReference : text.problem.showReference}
      </KeyButton>
      {shown && (
        <>
          {answer && (
            <div class="answer">
              <h3>
                <Term about="reference">{text.problem.reference}</Term>
              </h3>
              <RichText text={answerText(answer)} />
            </div>
          )}
          {solution && (
            <details>
              <summary>{text.problem.referenceSolution}</summary>
              <RichText text={solution} />
            </details>
          )}
          <button
            type="button"
            class="quiet dispute"
            aria-pressed={work.referenceDisputed}
            onClick={() => act({ type: "dispute_reference" })}
          >
            {work.referenceDisputed ? text.problem.disputed : text.problem.dispute}
          </button>
        </>
      )}
    </div>
  );
}

/** Answers of competition data sets are bare LaTeX, without dollars. */
export function answerText(answer: string): string {
  return /\\[a-zA-Z!,;]|[\^_]\S/.test(answer) && !/[$]|\\[([]/.test(answer) ? `$${answer}$` : answer;
}

import { render } from "preact";
import type { StepKind } from "../api/types";
import "../styles/reading.css";
import { speak } from "../text";
import { StepText } from "./StepText";

// Server-rendered pages name the kind of a text; without this script it is shown as written.
function typesetPage(): void {
  for (const place of document.querySelectorAll<HTMLElement>("[data-typeset]")) {
    const kind = place.dataset.typeset as StepKind;
    const text = place.textContent ?? "";
    delete place.dataset.typeset;
    place.textContent = "";
    place.classList.remove("prose");
    render(<StepText text={text} kind={kind} />, place);
  }
}

void speak().then(() => {
  typesetPage();
  document.addEventListener("htmx:afterSwap", typesetPage);
  document.addEventListener("stepmark:shown", typesetPage);
});

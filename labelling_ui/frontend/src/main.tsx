import { type JSX, render } from "preact";
import { createApi } from "./api/endpoints";
import type { Work } from "./api/types";
import { currentCsrfToken, readConfig } from "./config";
import { createPracticeApi, Practice } from "./practice/practice";
import { prepare } from "./reading/formulas";
import { Session } from "./session/session";
import type { View } from "./session/view";
import { browserStorage, waitForStorage } from "./storage/browser";
import "./styles/workbench.css";
import { speak } from "./text";
import { App } from "./ui/App";
import { Glossary } from "./ui/Term";

const config = readConfig();
const root = document.getElementById("workbench");
if (!root) throw new Error("The page lacks #workbench.");

await speak();
const caller = { apiRoot: config.apiRoot, csrfToken: () => currentCsrfToken(config), person: config.user.name };
await (config.practice ? practise() : label());

function show(app: JSX.Element): void {
  render(<Glossary.Provider value={config.terms}>{app}</Glossary.Provider>, root!);
}

function practise(): void {
  const practice = new Practice({
    guidelines: config.guidelines,
    api: createPracticeApi(caller, config.project.slug),
    onView: (view) => show(<App config={config} session={practice} view={view} practice={practice} />),
    onPrefetched: (work) => void prepare(textsOf(work)),
  });
  practice.start();
  window.addEventListener("online", () => practice.wake());
}

async function label(): Promise<void> {
  const storage = browserStorage(() => session.look());
  let view: View;
  const session = new Session({
    ...config,
    api: createApi(caller, config.project.slug),
    storage,
    scope: `${config.user.name}:${config.project.slug}`,
    onView: (next) => {
      view = next;
      show(<App config={config} session={session} view={view} practice={null} />);
    },
    onPrefetched: (task) => void prepare(textsOf(task)),
  });
  await waitForStorage(storage, () => session.wake());
  session.start();
  window.addEventListener("online", () => session.wake());
  document.addEventListener("visibilitychange", () =>
    document.visibilityState === "visible" ? session.wake() : session.save(),
  );
  window.addEventListener("beforeunload", (event) => {
    if (!view.durable && (view.waiting > 0 || view.saved !== "saved")) event.preventDefault();
  });
}

function textsOf({ problem, solution }: Work): string[] {
  const steps = solution.steps.flatMap((entry) => entry.alternatives.map((step) => step.text));
  return [problem.text, ...steps];
}

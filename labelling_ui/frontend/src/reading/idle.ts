const SOON_MS = 50;

/** Calls back when the page has nothing else to do; soon, in browsers that do not tell. Gives the way to call it off. */
export function whenIdle(run: () => void): () => void {
  if (!("requestIdleCallback" in window)) {
    const timer = setTimeout(run, SOON_MS);
    return () => clearTimeout(timer);
  }
  const asked = requestIdleCallback(run);
  return () => cancelIdleCallback(asked);
}

const SOON_MS = 50;

/** Calls back when the page is idle, or soon in browsers without idle callbacks. Returns a function that cancels it. */
export function whenIdle(run: () => void): () => void {
  if (!("requestIdleCallback" in window)) {
    const timer = setTimeout(run, SOON_MS);
    return () => clearTimeout(timer);
  }
  const asked = requestIdleCallback(run);
  return () => cancelIdleCallback(asked);
}

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";

// Drawn ahead of the eye by so much, so that scrolling never meets a text that is not typeset.
const AHEAD_PX = 1_500;

type Watch = (near: boolean) => void;

const watches = new WeakMap<Element, Watch>();
let observer: IntersectionObserver | null = null;

function watch(element: Element, told: Watch): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) watches.get(target)?.(isIntersecting);
    },
    { rootMargin: `${AHEAD_PX}px 0px` },
  );
  watches.set(element, told);
  observer.observe(element);
  return () => observer?.unobserve(element);
}

/** Whether the step that an element belongs to is on the screen or not far from it. What somebody has unfolded stays near. */
export function useNear(element: RefObject<HTMLElement | null>): boolean {
  const [near, setNear] = useState(false);
  useLayoutEffect(() => {
    // Not the element itself: the browser skips what is in a step off the screen, and asking for it would lay it out.
    const step = element.current!.closest(".step") ?? element.current!;
    const { top, bottom } = step.getBoundingClientRect();
    setNear(bottom > -AHEAD_PX && top < innerHeight + AHEAD_PX);
    return watch(step, (now) => setNear(now || step.querySelector("[data-open]") !== null));
  }, []);
  return near;
}

const DRAWN = "stepmark:drawn";

/** Tells whoever marks texts on the page that one was drawn anew. */
export function useTellDrawn(drawn: boolean): void {
  useEffect(() => {
    document.dispatchEvent(new Event(DRAWN));
  }, [drawn]);
}

/** Calls back after texts were drawn anew, once for all of a moment. */
export function onDrawn(callback: () => void): () => void {
  let asked = 0;
  const ask = () => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(callback);
  };
  document.addEventListener(DRAWN, ask);
  return () => {
    document.removeEventListener(DRAWN, ask);
    cancelAnimationFrame(asked);
  };
}

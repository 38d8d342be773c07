import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { whenIdle } from "./idle";

// Drawn ahead of the eye by so much, so that scrolling never meets a text that is not typeset.
const AHEAD_PX = 1_500;

// A sheet that is not shown: when it is, it begins at the top of the screen.
const AWAY = ".sheet:not(.shown)";

type Watch = (near: boolean) => void;

const watches = new Map<Element, Watch>();
const nearby = new Set<Element>();
const listeners = new Set<(step: Element, near: boolean) => void>();
let observer: IntersectionObserver | null = null;

function observe(step: Element): void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) if (!target.closest(AWAY)) place(target, isIntersecting);
    },
    { rootMargin: `${AHEAD_PX}px 0px` },
  );
  observer.observe(step);
}

function place(step: Element, near: boolean): void {
  watches.get(step)?.(near);
  if (near === nearby.has(step)) return;
  nearby[near ? "add" : "delete"](step);
  for (const notify of listeners) notify(step, near);
}

/** What stands ready for later is watched from when it is shown: every step that is costs time in every frame. */
function watch(step: Element, on: Watch): () => void {
  watches.set(step, on);
  if (!step.closest(AWAY)) observe(step);
  return () => {
    watches.delete(step);
    observer?.unobserve(step);
    place(step, false);
  };
}

/** Watches the steps of a sheet that has just been shown. */
export function watchSheet(sheet: Element): void {
  for (const step of watches.keys()) if (sheet.contains(step)) observe(step);
}

/** Calls `come` for every step that is near by now or comes to be, and `gone` for each that is not any more, until it is ended. */
export function onNear(come: (step: Element) => void, gone: (step: Element) => void): () => void {
  const notify = (step: Element, near: boolean) => (near ? come(step) : gone(step));
  nearby.forEach((step) => come(step));
  listeners.add(notify);
  return () => listeners.delete(notify);
}

/** Whether the step that an element belongs to is on the screen or not far from it. What somebody has unfolded stays near. */
export function useNear(element: RefObject<HTMLElement | null>): boolean {
  const [near, setNear] = useState(false);
  useLayoutEffect(() => {
    // Not the element itself: the browser skips what is in a step off the screen, and asking for it would lay it out.
    const step = element.current!.closest(".step") ?? element.current!;
    const { top, bottom } = step.getBoundingClientRect();
    const start = step.closest(AWAY)?.getBoundingClientRect().top ?? 0;
    setNear(bottom - start > -AHEAD_PX && top - start < innerHeight + AHEAD_PX);
    // What was drawn goes when there is time for it: taking it away would hold up the scrolling that leaves it.
    let callOff = () => {};
    const unwatch = watch(step, (now) => {
      callOff();
      if (now) setNear(true);
      else callOff = whenIdle(() => setNear(step.querySelector("[data-open]") !== null));
    });
    return () => {
      callOff();
      unwatch();
    };
  }, []);
  return near;
}

const DRAWN = "stepmark:drawn";

/** Notifies the listeners of `onDrawn` that a text was drawn again. */
export function useNotifyDrawn(drawn: boolean): void {
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

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { whenIdle } from "./idle";

// Texts are typeset this far ahead of the screen, so that scrolling never meets one that is not.
const AHEAD_PX = 1_500;

// A hidden sheet: when shown, it begins at the top of the screen.
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

/** A prepared sheet is watched only once it is shown: every watched step costs time in every frame. */
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

/** Calls `come` for every step that is or comes near, and `gone` for each that leaves, until it is stopped. */
export function onNear(come: (step: Element) => void, gone: (step: Element) => void): () => void {
  const notify = (step: Element, near: boolean) => (near ? come(step) : gone(step));
  nearby.forEach((step) => come(step));
  listeners.add(notify);
  return () => listeners.delete(notify);
}

/** Whether the step of an element is on the screen or not far from it. Steps that the person unfolded stay near. */
export function useNear(element: RefObject<HTMLElement | null>): boolean {
  const [near, setNear] = useState(false);
  useLayoutEffect(() => {
    // Not the element itself: the browser skips the content of a step off the screen, and measuring it would lay it
    // out.
    const step = element.current!.closest(".step") ?? element.current!;
    const { top, bottom } = step.getBoundingClientRect();
    const start = step.closest(AWAY)?.getBoundingClientRect().top ?? 0;
    setNear(bottom - start > -AHEAD_PX && top - start < innerHeight + AHEAD_PX);
    // Rendered content is removed when idle: removing it at once would block the scrolling.
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

/** Calls back after texts were redrawn, once for all of a moment. */
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

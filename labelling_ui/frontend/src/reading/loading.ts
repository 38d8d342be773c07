import { useEffect, useState } from "preact/hooks";

/** Draws again when what is fetched apart from the page has come. It may never come: then nothing changes. */
export function useArrival(arrival: Promise<unknown> | null): void {
  const [, setArrived] = useState(false);
  useEffect(() => {
    let here = true;
    arrival?.then(
      () => here && setArrived(true),
      () => undefined,
    );
    return () => {
      here = false;
    };
  }, [arrival]);
}

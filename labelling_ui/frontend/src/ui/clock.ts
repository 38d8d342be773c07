import { regional } from "../text";

/** The time of day of a timestamp, as the reader's region writes it; empty where the timestamp cannot be read. */
export function timeOf(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return "";
  return date.toLocaleTimeString(regional(), { hour: "2-digit", minute: "2-digit" });
}

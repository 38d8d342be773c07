import { parseJson } from "../json";
import { text } from "../text";
import type { ErrorBody } from "./types";

/** The server rejected the request. `status` is the HTTP status. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly extra: unknown,
  ) {
    super(message);
  }

  /** The person has to sign in again, or somebody else has signed in since. The request itself is valid. */
  get signedOut(): boolean {
    const codes = ["not_authenticated", "authentication_failed", "csrf_failed"];
    return this.status === 401 || (this.status === 403 && codes.includes(this.code));
  }

  /** The same request may succeed later. */
  get temporary(): boolean {
    return this.status >= 500 || this.status === 429 || this.status === 408;
  }
}

/** The server could not be reached, or did not answer in time. */
export class NetworkError extends Error {}

export interface Caller {
  apiRoot: string;
  csrfToken: () => string;
  /** The user of this page: their typing is never sent as another's. */
  person: string;
}

const TIMEOUT_MS = 20_000;

/**
 * Calls the API: JSON in, JSON out.
 * Throws ApiError for a status other than 2xx, NetworkError without an answer.
 */
export async function callAPI<T>(
  { apiRoot, csrfToken, person }: Caller,
  method: "GET" | "POST" | "PUT",
  path: string,
  body?: unknown,
): Promise<T> {
  const headers: Record<string, string> = {
    Accept: "application/json",
    "Accept-Language": text.locale,
    "X-CSRFToken": csrfToken(),
    "X-Stepmark-Person": encodeURIComponent(person),
  };
  const init: RequestInit = { method, headers, credentials: "same-origin" };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  let response: Response;
  let answer: string;
  try {
    response = await fetch(apiRoot + path, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
    answer = await response.text();
  } catch (cause) {
    throw new NetworkError(text.api.unreachable, { cause });
  }
  const parsed = parseJson(answer);
  if (response.ok) return parsed as T;
  const error = (parsed ?? {}) as Partial<ErrorBody>;
  throw new ApiError(
    response.status,
    error.code ?? "unknown",
    error.message ?? text.api.answered(response.status),
    error.extra ?? null,
  );
}

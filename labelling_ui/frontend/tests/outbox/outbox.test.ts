import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError, NetworkError } from "../../src/api/call";
import { deliver, type Ending, idOf, Outbox, randomId } from "../../src/outbox/outbox";
import { toDraft } from "../../src/state/draft";
import { startState } from "../../src/state/reducer";
import { memoryStorage } from "../fakes";
import { sampleTask } from "../sample";

function submission(id: string): Ending {
  const submission = {
    submission_id: id,
    solution: 1,
    lease: 1,
    based_on: 0,
    finish_reason: "solution" as const,
    reason: "",
    total_ms: 0,
    comment: "",
    reference_disputed: false,
    path: [],
  };
  return { submission };
}

function skip(lease: number): Ending {
  return { skip: { lease, solution: 100 + lease, reason: "no", draft: toDraft(startState(sampleTask({ lease })), "") } };
}

function outbox(send: (ending: Ending) => Promise<unknown>, storage = memoryStorage()) {
  const delivered: string[] = [];
  const box = new Outbox({
    storage,
    prefix: "box:",
    send: async (ending) => {
      await send(ending);
      return null;
    },
    onChange: () => {},
    onDelivered: (sent) => delivered.push(idOf(sent)),
  });
  return { box, delivered, storage };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(1);
});
afterEach(() => void vi.useRealTimers());

describe("the outbox", () => {
  it("sends oldest first and forgets what was taken", async () => {
    const { box, delivered, storage } = outbox(async () => {});
    box.put(submission("a"));
    box.put(skip(7));
    vi.advanceTimersByTime(5);
    box.put(submission("b"));
    await box.flush();
    expect(delivered).toEqual(["a", "skip-7", "b"]);
    expect(storage.map.size).toBe(0);
  });

  it("keeps what cannot be sent, waits longer each time, and sends the same id", async () => {
    const ids: string[] = [];
    let online = false;
    const { box, delivered } = outbox(async (sent) => {
      ids.push(idOf(sent));
      if (!online) throw new NetworkError("no");
    });
    box.put(submission("a"));
    await box.flush();
    expect(box.delivery).toBe("unreachable");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ids).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ids).toHaveLength(2);
    online = true;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(delivered).toEqual(["a"]);
    expect(new Set(ids)).toEqual(new Set(["a"]));
    expect(box.delivery).toBe("idle");
  });

  it("is found again by a page opened later", async () => {
    const storage = memoryStorage();
    const first = outbox(async () => Promise.reject(new NetworkError("no")), storage);
    first.box.put(submission("a"));
    const second = outbox(async () => {}, storage);
    await second.box.flush();
    expect(second.delivered).toEqual(["a"]);
  });

  it("sets aside what the server refuses, and goes on with the rest", async () => {
    const { box, delivered } = outbox(async (sent) => {
      if (idOf(sent) === "a") throw new ApiError(400, "bad_path", "Position 3 is missing.", null);
    });
    box.put(submission("a"));
    vi.advanceTimersByTime(5);
    box.put(submission("b"));
    await box.flush();
    expect(delivered).toEqual(["b"]);
    expect(box.refused()[0]?.refused?.message).toBe("Position 3 is missing.");
    box.dismiss("a");
    expect(box.refused()).toEqual([]);
  });

  it("sends again what the server refused, when the person asks for it", async () => {
    let member = false;
    const { box, delivered } = outbox(async () => {
      if (!member) throw new ApiError(404, "not_found", "You are not a member.", null);
    });
    box.put(submission("a"));
    await box.flush();
    expect(box.refused()).toHaveLength(1);
    member = true;
    box.retry("a");
    await box.flush();
    expect(delivered).toEqual(["a"]);
    expect(box.refused()).toEqual([]);
  });

  it("waits for the person to sign in again", async () => {
    const { box } = outbox(async () => Promise.reject(new ApiError(403, "not_authenticated", "Sign in.", null)));
    box.put(submission("a"));
    await box.flush();
    expect(box.delivery).toBe("signed_out");
    expect(box.waiting()).toHaveLength(1);
  });

});

describe("a skip", () => {
  const skipped = skip(3);
  const refusing = (code: string) => async () => Promise.reject(new ApiError(409, code, "No.", null));
  const submit = vi.fn();

  it("is brought to the server with its reason", async () => {
    const release = vi.fn(async () => {});
    await deliver({ submit, release }, skipped);
    expect(release).toHaveBeenCalledWith(3, "no");
  });

  it("says nothing any more of what was handed in elsewhere", async () => {
    await expect(deliver({ submit, release: refusing("lease_ended") }, skipped)).resolves.toBeNull();
  });

  it("that the server refuses otherwise is kept for the person to see", async () => {
    const { box } = outbox((ending) => deliver({ submit, release: refusing("not_annotator") }, ending));
    box.put(skipped);
    await box.flush();
    expect(box.refused()).toMatchObject([{ ...skipped, refused: { message: "No." } }]);
    box.dismiss(idOf(skipped));
    expect(box.refused()).toEqual([]);
  });
});

it("makes version-4 UUIDs", () => {
  const ids = Array.from({ length: 50 }, randomId);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(50);
});

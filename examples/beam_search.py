"""Compare beam search over steps with one plain sample and with best-of-N: `python -m examples.beam_search`."""

from concurrent.futures import ThreadPoolExecutor

from examples.setting import gain, held_out, is_right, policy_server, shares, verifier
from prm.sandbox.solving import final_answer
from prm.search import Cost, Endpoint, SearchResult, beam_search, best_of_n
from prm.traces import Trace

PROBLEMS, WIDTH, EXPANSIONS = 150, 4, 2
N = WIDTH * EXPANSIONS


def main() -> None:
    judge, problems = verifier(), held_out(PROBLEMS)
    with policy_server() as url, ThreadPoolExecutor(4) as pool:
        policy = Endpoint(url, "sandbox-weak")

        def plain(numbered: tuple[int, Trace]) -> SearchResult:
            return best_of_n(policy, judge, numbered[1].problem, n=1, seed=numbered[0], answer_of=final_answer)

        def best(numbered: tuple[int, Trace]) -> SearchResult:
            return best_of_n(policy, judge, numbered[1].problem, n=N, seed=numbered[0], answer_of=final_answer)

        def beam(numbered: tuple[int, Trace]) -> SearchResult:
            number, problem = numbered
            return beam_search(
                policy, judge, problem.problem, width=WIDTH, expansions=EXPANSIONS, seed=number, answer_of=final_answer
            )

        found = {name: list(pool.map(search, enumerate(problems))) for name, search in
                 (("plain", plain), (f"best of {N}", best), (f"beam {WIDTH}x{EXPANSIONS}", beam))}  # fmt: skip
    right = {
        name: [is_right(one.steps, problem) for one, problem in zip(some, problems, strict=True)]
        for name, some in found.items()
    }
    for name, some in found.items():
        cost = sum((one.cost for one in some), Cost())
        shares(name, right[name])
        print(
            f"    a problem: {cost.completion_tokens / PROBLEMS:.0f} tokens written, "
            f"{cost.prompt_tokens / PROBLEMS:.0f} read, "
            f"{cost.calls / PROBLEMS:.1f} calls, {cost.steps_verified / PROBLEMS:.0f} steps verified"
        )
    gain("beam over plain", right[f"beam {WIDTH}x{EXPANSIONS}"], right["plain"])
    gain(f"beam over best of {N}", right[f"beam {WIDTH}x{EXPANSIONS}"], right[f"best of {N}"])


if __name__ == "__main__":
    main()

"""Compare verify-and-revise with one plain sample and with best-of-N at the same cost: `python -m examples.revise`."""

from concurrent.futures import ThreadPoolExecutor

from examples.setting import gain, held_out, is_right, policy_server, shares, verifier
from prm.sandbox.solving import final_answer
from prm.search import Cost, Endpoint, SearchResult, best_of_n, revise
from prm.traces import Trace

PROBLEMS, ROUNDS, TRIES = 150, 3, 2


def main() -> None:
    judge, problems = verifier(), held_out(PROBLEMS)
    with policy_server() as url, ThreadPoolExecutor(4) as pool:
        policy = Endpoint(url, "sandbox-weak")

        def revised(numbered: tuple[int, Trace]) -> SearchResult:
            number, problem = numbered
            return revise(
                policy, judge, problem.problem, rounds=ROUNDS, tries=TRIES, seed=number, answer_of=final_answer
            )

        def first(numbered: tuple[int, Trace]) -> SearchResult:
            """The solution that the revision starts from, by the same seed."""
            number, problem = numbered
            return revise(policy, judge, problem.problem, rounds=0, seed=number, answer_of=final_answer)

        found = {
            "plain": list(pool.map(first, enumerate(problems))),
            "revised": list(pool.map(revised, enumerate(problems))),
        }
        spent = {name: sum((one.cost for one in some), Cost()) for name, some in found.items()}
        n = max(2, round(spent["revised"].completion_tokens / spent["plain"].completion_tokens))

        def best(numbered: tuple[int, Trace]) -> SearchResult:
            return best_of_n(policy, judge, numbered[1].problem, n=n, seed=numbered[0], answer_of=final_answer)

        found[f"best of {n}"] = list(pool.map(best, enumerate(problems)))
    right = {
        name: [is_right(one.steps, problem) for one, problem in zip(some, problems, strict=True)]
        for name, some in found.items()
    }
    for name, some in found.items():
        shares(name, right[name])
        print(f"    per problem: {sum(one.cost.completion_tokens for one in some) / PROBLEMS:.0f} tokens written")
    touched = sum(one.rounds > 0 for one in found["revised"])
    print(f"{touched} of {PROBLEMS} solutions had a suspicious step")
    gain("revised over plain", right["revised"], right["plain"])
    gain(f"revised over best of {n}", right["revised"], right[f"best of {n}"])


if __name__ == "__main__":
    main()

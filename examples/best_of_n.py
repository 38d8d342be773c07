"""Compare best-of-N with one plain sample and with the majority: `python -m examples.best_of_n`."""

from collections import Counter

from examples.setting import gain, held_out, is_right, policy_server, shares, verifier
from prm.sandbox.solving import final_answer
from prm.search import Endpoint, Prefix
from prm.search.choosing import choose, score_samples

PROBLEMS, N = 150, 8


def main() -> None:
    judge, problems = verifier(), held_out(PROBLEMS)
    right: dict[str, list[float]] = {"plain": [], "majority": [], "best": [], "vote": [], "oracle": []}
    with policy_server() as url:
        policy = Endpoint(url, "sandbox-weak")
        sampled = policy.sample([Prefix(problem.problem) for problem in problems], n=N, seed=1)
    for problem, samples in zip(problems, sampled.samples, strict=True):
        candidates, _ = score_samples(judge, problem.problem, (), samples)
        graded = [is_right(candidate.steps, problem) for candidate in candidates]
        answers = [final_answer(candidate.steps) for candidate in candidates]
        given = Counter(answer for answer in answers if answer is not None)
        commonest = given.most_common(1)[0][0] if given else None
        right["plain"].append(sum(graded) / N)
        right["majority"].append(commonest == problem.reference_answer)
        for name, vote in (("best", False), ("vote", True)):
            chosen = choose(candidates, by="product", vote=vote, answer_of=final_answer)
            right[name].append(is_right(chosen.steps, problem))
        right["oracle"].append(any(graded))
    print(
        f"{PROBLEMS} problems, {N} solutions each, {sampled.cost.completion_tokens / PROBLEMS:.0f} tokens per problem"
    )
    shares("one plain sample", right["plain"])
    shares(f"majority of {N}", right["majority"])
    shares(f"best of {N}", right["best"])
    shares(f"vote of {N}, weighted by score", right["vote"])
    shares(f"any of {N} (oracle)", right["oracle"])
    gain(f"best of {N} over plain", right["best"], right["plain"])
    gain(f"best of {N} over majority", right["best"], right["majority"])
    gain("vote over majority", right["vote"], right["majority"])
    gain(f"vote over best of {N}", right["vote"], right["best"])


if __name__ == "__main__":
    main()

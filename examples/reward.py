"""Estimate the policy that a reward leads to, without training it: `python -m examples.reward`.

The policy that a reward r leads to, kept near the sampling policy, is p(y) exp(r(y) / beta). Over the samples of a
problem that is a re-weighting, so what training could gain by a reward is an expectation over samples already drawn.
The step term sees no reference answer; the true outcome is only used to count what it brings.
"""

from math import exp

from examples.setting import gain, held_out, is_right, policy_server, shares, verifier
from prm.rewards import Mix, Prover, Reward
from prm.search import Endpoint, Prefix
from prm.traces import Trace

PROBLEMS, SAMPLES, BETA = 100, 8, 0.2
ROLLED_OUT = 15  # problems of which every prefix is rolled out


def main() -> None:
    judge, problems = verifier(), held_out(PROBLEMS)
    with policy_server() as url:
        policy = Endpoint(url, "sandbox-weak")
        sampled = policy.sample([Prefix(problem.problem) for problem in problems], n=SAMPLES, seed=1)
        texts = [[sample.text for sample in samples] for samples in sampled.samples]
        right = [
            [is_right(sample.steps, problem) for sample in samples]
            for problem, samples in zip(problems, sampled.samples, strict=True)
        ]
        steps_only = Reward(judge, Mix(outcome=0, steps=1))
        asked = [
            _tilted(steps_only, problem, some, graded)
            for problem, some, graded in zip(problems, texts, right, strict=True)
        ]
        plain = [sum(graded) / SAMPLES for graded in right]
        shares("the policy as it is", plain)
        shares("led to by step credits", asked)
        gain("step credits, no references", asked, plain)
        prover = Prover(policy, lambda text, reference: text.rstrip("$.").endswith(reference), samples=4, best_of=2)
        mixed = Reward(judge, Mix(outcome=1, steps=0.5, progress=0.3, efficiency=0.1, novelty=0.1), prover)
        some = slice(0, ROLLED_OUT)
        asked = [_tilted(mixed, *each) for each in zip(problems[some], texts[some], right[some], strict=True)]
        gain(f"the whole mix, {ROLLED_OUT} problems", asked, plain[some])
    part = mixed.last[0]
    print(f"one completion: total {part.total:.2f} of outcome {part.outcome:.0f}, steps {part.steps:.2f}, "
          f"progress {part.progress:.2f}, efficiency {part.efficiency:.2f}, novelty {part.novelty:.2f}")  # fmt: skip
    print(f"    step by step: advantages {', '.join(f'{value:+.2f}' for value in part.advantages)}")
    print(f"rollouts for progress: {prover.cost.calls} calls, {prover.cost.completion_tokens:,} tokens")


def _tilted(reward: Reward, problem: Trace, texts: list[str], right: list[bool]) -> float:
    """The share of right answers under the policy that the reward leads to."""
    rewards = reward(
        prompts=[problem.problem] * len(texts), completions=texts, answer=[problem.reference_answer] * len(texts)
    )
    weights = [exp((one - max(rewards)) / BETA) for one in rewards]
    return sum(weight for weight, is_right in zip(weights, right, strict=True) if is_right) / sum(weights)


if __name__ == "__main__":
    main()

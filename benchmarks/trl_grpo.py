"""Runs a few steps of TRL's GRPO trainer with our reward, to show that they work together.

    pip install --no-deps --target /tmp/trl trl && PYTHONPATH=.:/tmp/trl python benchmarks/trl_grpo.py

TRL is not a dependency; in a separate folder it changes nothing here. Prints TRL's reward figures of each step.
"""

import tempfile

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from prm.backbones import TINY
from prm.rewards import Mix, Reward
from prm.sandbox import WorldConfig, generate
from prm.scoring import Scorer
from prm.search import LocalVerifier

PROBLEMS, STEPS, COMPLETIONS = 8, 3, 4


def main() -> None:
    answers = {trace.problem: trace.reference_answer for trace in generate(WorldConfig(), split="pool", n=5 * PROBLEMS)}
    rows = [{"prompt": problem, "answer": answer} for problem, answer in list(answers.items())[:PROBLEMS]]
    verifier = LocalVerifier(Scorer.for_base("tiny"))
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=str(TINY),
            reward_funcs=Reward(verifier, Mix(outcome=1.0, steps=0.5, efficiency=0.1, novelty=0.1)),
            args=GRPOConfig(
                output_dir=folder,
                per_device_train_batch_size=COMPLETIONS,
                num_generations=COMPLETIONS,
                max_completion_length=32,
                max_steps=STEPS,
                logging_steps=1,
                report_to=[],
                use_cpu=True,
                bf16=False,
                save_strategy="no",
            ),
            train_dataset=Dataset.from_list(rows),
        )
        trainer.train()
    for line in trainer.state.log_history[:STEPS]:
        print({name: round(value, 3) for name, value in line.items() if "reward" in name})


if __name__ == "__main__":
    main()

"""A worker of the benchmark: loads the model, prints a line, waits for a line, then scores until nothing is left."""

import sys

import django


def main() -> None:
    """Score the pool of the version whose key is the argument."""
    django.setup()
    from annotation.loop.gateway.scoring import loaded_scorer
    from annotation.loop.pool.shards import score_slice
    from annotation.models import ModelVersion

    version = ModelVersion.objects.select_related("project").get(pk=sys.argv[1])
    loaded_scorer(version)
    print("ready", flush=True)
    sys.stdin.readline()
    while score_slice(version):
        pass


if __name__ == "__main__":
    main()

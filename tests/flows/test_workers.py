"""The workers that tests use are real."""


def test_every_queue_has_its_worker(celery_workers):
    queues = celery_workers.inspect().active_queues()
    assert {name.split("-")[0]: [queue["name"] for queue in bound] for name, bound in queues.items()} == {
        "default": ["default"],
        "gpu": ["gpu"],
        "score": ["score"],
    }

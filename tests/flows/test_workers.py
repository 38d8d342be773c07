"""The workers that tests use are real: they run tasks from their queues, and come back after a kill."""


def test_every_queue_has_its_worker(celery_workers):
    queues = celery_workers.inspect().active_queues()
    assert {name.split("-")[0]: [queue["name"] for queue in bound] for name, bound in queues.items()} == {
        "default": ["default"],
        "gpu": ["gpu"],
        "score": ["score"],
    }


def test_killed_worker_comes_back(celery_workers):
    celery_workers.kill("gpu")
    celery_workers.start()
    queues = celery_workers.inspect().active_queues()
    assert sorted(name.split("-")[0] for name in queues) == ["default", "gpu", "score"]

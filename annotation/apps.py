import gc
from importlib import import_module

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        for model in ("reliability", "mace", "consensus"):  # register the product's consensus models
            import_module(f"annotation.labels.consensus.{model}")
        gc.freeze()  # what a start makes lives to the end
        gc.enable()  # `config` disabled it

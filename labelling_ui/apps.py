from django.apps import AppConfig


class LabellingUiConfig(AppConfig):
    name = "labelling_ui"
    verbose_name = "Labelling"

    def ready(self) -> None:
        from labelling_ui import checks  # noqa: F401  (registers the checks)

from django.apps import AppConfig


class LabellingUiConfig(AppConfig):
    name = "labelling_ui"
    verbose_name = "Labelling"

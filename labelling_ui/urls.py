"""Addresses of the pages."""

from django.urls import URLPattern, URLResolver, path

from labelling_ui.pages import home, overview, project_form, workbench

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("projects/new/", project_form.create, name="project-create"),
    path("p/<slug:slug>/", overview.overview, name="project"),
    path("p/<slug:slug>/label/", workbench.workbench, name="workbench"),
]

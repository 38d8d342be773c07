"""Addresses of the pages."""

from django.urls import URLPattern, URLResolver, include, path

from labelling_ui.pages import (
    disputes,
    exports,
    generations,
    home,
    imports,
    labels,
    members,
    models,
    overview,
    project_form,
    runs,
    sampling,
    settings,
    solutions,
    tokens,
    workbench,
)

of_a_project: list[URLPattern | URLResolver] = [
    path("", overview.overview, name="project"),
    path("label/", workbench.workbench, name="workbench"),
    path("labels/", labels.labels, name="labels"),
    path("solutions/", solutions.solutions, name="solutions"),
    path("solutions/<int:solution_id>/", solutions.solution, name="solution"),
    path("disputes/", disputes.disputes, name="disputes"),
    path("disputes/<int:dispute_id>/decide/", disputes.decide, name="dispute-decide"),
    path("generations/", generations.generations, name="generations"),
    path("generations/open-first/", generations.open_first, name="generation-open-first"),
    path("runs/", runs.runs, name="runs"),
    path("retrain/", runs.retrain, name="retrain"),
    path("models/", models.models, name="models"),
    path("models/<int:version_id>/promote/", models.promote, name="model-promote"),
    path("import/", imports.imports, name="import"),
    path("import/preview/", imports.preview, name="import-preview"),
    path("sample/", sampling.samplings, name="sampling"),
    path("sample/preview/", sampling.preview, name="sampling-preview"),
    path("export/", exports.export, name="export"),
    path("export/<int:snapshot_id>/card/", exports.card, name="snapshot-card"),
    path("export/<int:snapshot_id>/<slug:format>/", exports.download, name="snapshot-download"),
    path("members/", members.members, name="members"),
    path("members/<int:member_id>/", members.change, name="member-change"),
    path("settings/", settings.settings, name="settings"),
    path("settings/state/", settings.set_state, name="project-state"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("projects/new/", project_form.create, name="project-create"),
    path("tokens/", tokens.tokens, name="tokens"),
    path("tokens/<int:token_id>/revoke/", tokens.revoke, name="token-revoke"),
    path("p/<slug:slug>/", include(of_a_project)),
    path("runs/<int:run_id>/", runs.run, name="run"),
    path("runs/<int:run_id>/cancel/", runs.cancel, name="run-cancel"),
    path("imports/<int:job_id>/", imports.import_job, name="import-job"),
    path("imports/<int:job_id>/cancel/", imports.cancel, name="import-cancel"),
    path("samplings/<int:run_id>/", sampling.sampling_run, name="sampling-run"),
    path("samplings/<int:run_id>/cancel/", sampling.cancel, name="sampling-cancel"),
    path("samplings/<int:run_id>/resume/", sampling.resume, name="sampling-resume"),
]

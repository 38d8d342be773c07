"""Addresses of the API under `/api/v1/`."""

from django.urls import URLPattern, URLResolver, path, re_path

from annotation.api import (
    annotations,
    claims,
    errors,
    generations,
    imports,
    leases,
    model_versions,
    projects,
    runs,
    scores,
    snapshots,
    statistics,
    tokens,
)

urlpatterns: list[URLPattern | URLResolver] = [
    path("projects/", projects.ProjectList.as_view()),
    path("projects/<slug:slug>/", projects.ProjectDetail.as_view()),
    path("projects/<slug:slug>/claim/", claims.ClaimNext.as_view()),
    path("projects/<slug:slug>/annotations/", annotations.Annotations.as_view()),
    path("projects/<slug:slug>/my-progress/", annotations.MyProgress.as_view()),
    path("projects/<slug:slug>/statistics/", statistics.ProjectStatistics.as_view()),
    path("projects/<slug:slug>/runs/", runs.Runs.as_view()),
    path("projects/<slug:slug>/generations/", generations.Generations.as_view()),
    path("projects/<slug:slug>/models/", model_versions.ModelVersions.as_view()),
    path("runs/<int:run_id>/", runs.RunDetail.as_view()),
    path("runs/<int:run_id>/cancel/", runs.CancelRun.as_view()),
    path("models/<int:version_id>/promote/", model_versions.Promote.as_view()),
    path("projects/<slug:slug>/imports/", imports.Imports.as_view()),
    path("projects/<slug:slug>/snapshots/", snapshots.Snapshots.as_view()),
    path("imports/<int:import_id>/", imports.ImportDetail.as_view()),
    path("imports/<int:import_id>/cancel/", imports.CancelImport.as_view()),
    path("imports/<int:import_id>/rejections/", imports.Rejections.as_view()),
    path("snapshots/<int:snapshot_id>/", snapshots.SnapshotDetail.as_view()),
    path("snapshots/<int:snapshot_id>/download/", snapshots.Download.as_view()),
    path("snapshots/<int:snapshot_id>/card/", snapshots.Card.as_view()),
    path("leases/<int:lease_id>/heartbeat/", leases.Heartbeat.as_view()),
    path("leases/<int:lease_id>/release/", leases.Release.as_view()),
    path("leases/<int:lease_id>/draft/", leases.DraftOfLease.as_view()),
    path("score", scores.Scores.as_view()),
    path("score/", scores.Scores.as_view(schema=None)),
    path("tokens/", tokens.Tokens.as_view()),
    path("tokens/<int:token_id>/", tokens.TokenDetail.as_view()),
    re_path("", errors.NothingHere.as_view()),  # last
]

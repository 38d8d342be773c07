"""Every address of the site."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView

from annotation.api.pooling import Pooling, ServedModels
from config.accounts import without_mail
from config.monitoring import healthz, metrics

# The admin uses the same sign-in page, where attempts are limited.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("api/v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/v1/", include("annotation.api.urls")),
    path("pooling", Pooling.as_view()),
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("accounts/password/reset/", without_mail),
    path("accounts/email/", without_mail),
    path("accounts/", include("allauth.account.urls")),
    path("v1/models", ServedModels.as_view()),
    path("", include("labelling_ui.urls")),
]

handler400 = "annotation.api.failures.bad_request"
handler404 = "annotation.api.failures.not_found"
handler500 = "annotation.api.failures.server_error"

"""The settings of all processes; `local`, `test` and `production` each change a few of them."""

from csp.constants import NONE, SELF, UNSAFE_INLINE
from kombu.entity import Queue

from annotation.schedule import BEAT_SCHEDULE, TASK_ROUTES
from config.env import (
    BASE_DIR,
    HOME_DIR,
    VAR_DIR,
    celery_url,
    databases,
    env,
    export_roots,
    import_roots,
    policy_endpoints,
    redis_url,
    storage,
)
from config.logs import logging_config
from config.settings.api import REST_FRAMEWORK, SPECTACULAR_SETTINGS  # noqa: F401 - settings themselves

DEBUG = False
ALLOWED_HOSTS: list[str] = []
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "drf_spectacular",
    "django_htmx",
    "django_vite",
    "django_prometheus",
    "allauth",
    "allauth.account",
    "csp",
    "annotation",
    "labelling_ui",
]

MIDDLEWARE = [
    "django_prometheus.middleware.PrometheusBeforeMiddleware",
    "config.monitoring.MetricsByToken",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.http.ConditionalGetMiddleware",
    "config.security_policy.ConstantPolicy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.languages.Language",
    "config.zones.ReadersZone",
    "config.accounts.OwnPassword",
    "labelling_ui.own_writes.OwnWrites",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "django_prometheus.middleware.PrometheusAfterMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        # Before the templates of allauth, some of which labelling_ui replaces.
        "DIRS": [BASE_DIR / "labelling_ui" / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "labelling_ui.pages.access.member_of",
            ],
            # Nearly every page uses these, so that none needs a `load`.
            "builtins": [
                "django.templatetags.i18n",
                "django.templatetags.l10n",
                "django.templatetags.static",
                "django_htmx.templatetags.django_htmx",
                "django_vite.templatetags.django_vite",
                "labelling_ui.templatetags.answers",
                "labelling_ui.templatetags.figures",
                "labelling_ui.templatetags.navigation",
                "labelling_ui.templatetags.tables",
                "labelling_ui.templatetags.terms",
            ],
        },
    }
]

# A browser may load and run only what this server sends, and images that a text contains as data. Styles in attributes
# are allowed: KaTeX uses them to place the parts of a formula, and charts to place their points.

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "style-src-attr": [UNSAFE_INLINE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# Servers

DATABASES = databases()
REDIS_URL = redis_url()
# Seconds: a Redis that hangs must not hold a request.
REDIS_PATIENCE = {"socket_timeout": 3, "socket_connect_timeout": 3}
# Sign-in counts wrong passwords in the default cache and fails without it. Pages can do without the cache of figures.
CACHES = {
    name: {"BACKEND": backend, "LOCATION": REDIS_URL, "OPTIONS": REDIS_PATIENCE}
    for name, backend in {
        "default": "django.core.cache.backends.redis.RedisCache",
        "figures": "config.figures_cache.FiguresCache",
    }.items()
}

# Accounts: managers add people; nobody signs up by themselves.

AUTHENTICATION_BACKENDS = ["config.accounts.Accounts"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "config.accounts.ClosedSignup"
ACCOUNT_FORMS = {
    "login": "labelling_ui.pages.account_forms.SignInForm",
    "change_password": "labelling_ui.pages.account_forms.PasswordForm",
}
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"

# Limits. Wrong passwords are counted per account over all addresses, and per address over all accounts.

ACCOUNT_RATE_LIMITS = {"login": "60/m/ip", "login_failed": "20/m/ip,5/5m/key"}
TRUSTED_PROXY_COUNT = env.int("TRUSTED_PROXY_COUNT", 0)
API_CALLS_PER_MINUTE = env.int("API_CALLS_PER_MINUTE", 12_000)
API_STRANGER_CALLS_PER_MINUTE = env.int("API_STRANGER_CALLS_PER_MINUTE", 20)

# Pages and files

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "config.formats"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
STATIC_ROOT = HOME_DIR / "staticfiles"
STATE_ROOT = VAR_DIR
# Files that machines share are below STATE_ROOT, or in this bucket and below STATE_ROOT as copies of at most this size.
STORAGE_URL, STORAGE_OPTIONS = storage()
STORAGE_CACHE_BYTES = env.int("STORAGE_CACHE_GB", 100) * 2**30
MAX_UPLOAD_BYTES = env.int("MAX_UPLOAD_MB", 50_000) * 2**20
IMPORT_ROOTS = import_roots()
EXPORT_ROOTS = export_roots()
BACKBONES: list[str] = env.list("BACKBONES", [])  # names and model folders, besides the embedded one
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 2**20
FRONT_END_MANIFEST = BASE_DIR / "labelling_ui/static/labelling_ui/dist/manifest.json"
# Vite puts a hash into these names. With a second hash by Django, a module would be loaded twice, under both names.
WHITENOISE_IMMUTABLE_FILE_TEST = r"/labelling_ui/dist/assets/.+-[\w-]{8}\.\w+$"
DJANGO_VITE = {"default": {"manifest_path": FRONT_END_MANIFEST, "static_url_prefix": "labelling_ui/dist"}}

# Jobs. Redis redelivers a task that was not acknowledged within the visibility timeout, so that a longer task would run
# twice at the same time. The timeout is above the longest run; heartbeats detect lost workers.

CELERY_BROKER_URL = celery_url(REDIS_URL)
# Celery has no result backend: every job is a row, and each message would wait two minutes for a backend that hangs.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": env.int("LONGEST_RUN_SECONDS", 48 * 3600),
    **REDIS_PATIENCE,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_QUEUES = [Queue("default"), Queue("gpu"), Queue("score")]
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ROUTES = TASK_ROUTES
CELERY_BEAT_SCHEDULE = BEAT_SCHEDULE
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# In KB of peak memory: a process of the default worker that needed more ends after its task, because Python seldom
# returns the memory of many small objects. Exports and small imports need 115 MB; a fit of 17,000 labels needs 170.
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 150 * 1024
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 10
CELERY_WORKER_ENABLE_SOFT_SHUTDOWN_ON_IDLE = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
# The ready files of the workers that were started beside this web process.
AWAITED_WORKERS = [VAR_DIR / "run" / f"{queue}.ready" for queue in env.str("AWAITED_WORKERS", "").split(",") if queue]
TRAINING_DEVICES = [slot for slot in env.str("TRAINING_DEVICES", "").split(";") if slot]
TRAINER_GRACE_SECONDS = env.int("TRAINER_GRACE_SECONDS", 60)  # between SIGTERM and SIGKILL

# Serving: the batches and caches of a worker of the `score` queue, and when a request is rejected.

SERVING_BATCH = env.int("SERVING_BATCH", 64)
SERVING_BATCH_CHARS = env.int("SERVING_BATCH_CHARS", 60_000)
SERVING_MODELS = env.int("SERVING_MODELS", 4)
SERVING_SESSION_MB = env.int("SERVING_SESSION_MB", 512)
SERVING_MOST_WAITING = env.int("SERVING_MOST_WAITING", 256)
SERVING_LONGEST_WAIT = env.int("SERVING_LONGEST_WAIT", 10)
SERVING_SEATS = env.int("SERVING_SEATS", 24)  # threads of a web process that may wait for answers
SERVING_SESSION_SECONDS = env.int("SERVING_SESSION_SECONDS", 3600)

# Hosts of the private network that webhooks may reach, also by plain HTTP.

WEBHOOK_PRIVATE_HOSTS: list[str] = env.list("WEBHOOK_PRIVATE_HOSTS", [])

METRICS_TOKEN = env.str("METRICS_TOKEN", "")
LOGGING = logging_config(json=env.bool("LOG_JSON", False), level=env.str("LOG_LEVEL", "INFO"))

# Policies to sample solutions from, by name. None by default.

POLICY_ENDPOINTS = policy_endpoints({})

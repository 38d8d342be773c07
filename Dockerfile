FROM node:22-slim AS frontend
WORKDIR /app/labelling_ui/frontend
COPY labelling_ui/frontend/package.json labelling_ui/frontend/package-lock.json labelling_ui/frontend/.npmrc ./
RUN npm ci --no-audit --no-fund
COPY labelling_ui/ /app/labelling_ui/
RUN npm run build

FROM python:3.12-slim
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 DJANGO_SETTINGS_MODULE=config.settings.production
# What libraries download and compile, on a volume.
ENV HOME=/home/stepmark XDG_CACHE_HOME=/cache HF_HOME=/cache/huggingface TORCH_HOME=/cache/torch \
    TORCHINDUCTOR_CACHE_DIR=/cache/inductor TRITON_CACHE_DIR=/cache/triton
WORKDIR /app
COPY pyproject.toml constraints.txt ./
COPY prm/pyproject.toml prm/
COPY launch/bootstrap.py launch/
RUN python launch/bootstrap.py --list gpu s3 \
    | pip install --no-cache-dir --disable-pip-version-check --constraint constraints.txt --requirement /dev/stdin
COPY . ./
COPY --from=frontend /app/labelling_ui/static/labelling_ui/dist labelling_ui/static/labelling_ui/dist
# The settings ask for these even though collecting static files uses none of them.
RUN python -m launch.catalogues \
    && SECRET_KEY=$(python -c "import secrets; print(secrets.token_urlsafe(50))") ALLOWED_HOSTS=build DATABASE_URL=postgresql:/// REDIS_URL=redis://build \
    python manage.py collectstatic --no-input --verbosity 0 \
    && useradd --uid 10001 --create-home --home-dir /home/stepmark stepmark \
    && install --directory --owner=stepmark /data /cache
USER stepmark
VOLUME /data /cache
EXPOSE 8000
# WEB_CONCURRENCY processes. The metrics of all of them are summed in a folder of this container's own.
CMD ["env", "PROMETHEUS_MULTIPROC_DIR=/dev/shm/prometheus", \
     "gunicorn", "config.wsgi", "--config=python:config.gunicorn", \
     "--bind=0.0.0.0:8000", "--threads=32", "--worker-tmp-dir=/dev/shm"]

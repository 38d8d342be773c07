#!/usr/bin/env bash
# The loop with a live policy, on servers of its own under var/examples/platform: a project with labels and a champion,
# then solutions of a live policy sampled, graded, imported, scored and queued. About three minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
export VAR_DIR="$PWD/var/examples/platform" OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
mkdir -p "$VAR_DIR"
python="$PWD/.venv/bin/python"

"$python" -m launch servers >"$VAR_DIR/servers.log" 2>&1 &
servers=$!
trap 'kill $servers; wait $servers || true' EXIT
until [ -e "$VAR_DIR/servers.env" ]; do sleep 0.2; done

"$python" manage.py migrate --verbosity 0
"$python" -m examples.connect_policy

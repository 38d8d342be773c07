"""Checks before a start; each failure is one sentence that says what to do."""

import errno
import os
import socket
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import redis

from launch.errors import LaunchError
from launch.options import Options

ANSWER_SECONDS = 3


def check(options: Options) -> None:
    """Check the port and the external servers. Raises LaunchError."""
    check_port(options.host, options.port)
    if options.external["DATABASE_URL"]:
        check_database(options.external["DATABASE_URL"])
    if options.external["REDIS_URL"]:
        check_redis(options.external["REDIS_URL"])


def check_writable(var: Path) -> None:
    """Raises LaunchError unless `var` is a writable folder or can be created."""
    try:
        var.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=var):
            pass
    except OSError as error:
        raise LaunchError(
            f"Stepmark cannot write to {var} ({os.strerror(error.errno or 0)}): "
            "get write permission there, or set VAR_DIR to a folder of your own."
        ) from None


def check_port(host: str, port: int) -> None:
    """Raises LaunchError unless this process can listen on the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                advice = "stop the program that uses it, or set PORT to another port"
            else:
                advice = "set HOST to an address of this machine"
            raise LaunchError(f"Port {port} on {host} cannot be used ({error.strerror}): {advice}.") from None


def check_database(url: str) -> None:
    """Raises LaunchError unless the server accepts a connection within a few seconds."""
    try:
        psycopg.connect(url, connect_timeout=ANSWER_SECONDS).close()
    except psycopg.Error as error:
        raise LaunchError(_silent("DATABASE_URL", "PostgreSQL", url, error)) from None


def check_redis(url: str) -> None:
    """Raises LaunchError unless the server answers a PING within a few seconds."""
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=ANSWER_SECONDS, socket_timeout=ANSWER_SECONDS) as client:
            client.ping()
    except (redis.RedisError, ValueError) as error:
        raise LaunchError(_silent("REDIS_URL", "Redis", url, error)) from None


def _silent(name: str, server: str, url: str, error: Exception) -> str:
    """The sentence for a server that does not answer, without the password of its address."""
    try:
        parts = urlsplit(url)
        password = parts.password
        place = (
            f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or parts.path or "the configured address"
        )
    except ValueError:
        password, place = None, "the configured address"
    reason = " ".join(str(error).split()) or type(error).__name__
    if password:
        reason = reason.replace(password, "***")
    return (
        f"{server} at {place} does not answer ({reason}): start it, correct {name}, "
        f"or unset {name} to use the embedded one."
    )

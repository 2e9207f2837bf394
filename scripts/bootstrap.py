"""Make `.venv` and install the project in it. Standard library only, any Python that can run it.

    python3 scripts/bootstrap.py

Uses uv where it is on the PATH (several times faster), else venv and pip. The
stamp `.venv/installed` is removed before the first change and written after the
last, so that an interrupted run is never taken for a finished one.
"""

import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
VENV_PYTHON = os.path.join(VENV, "bin", "python")
STAMP = os.path.join(VENV, "installed")
OLDEST = (3, 11)
REQUIREMENT = "-e", ROOT + "[test]"


def main():
    """Install, then stamp; the exit status is that of the step that failed."""
    if os.path.exists(STAMP):
        os.remove(STAMP)
    python = find_python()
    uv = shutil.which("uv")
    if uv:
        install_with_uv(uv, python)
    else:
        install_with_pip(python)
    # Asked of the metadata and not by an import: an error in the source is for the tests to tell.
    check = "from importlib.metadata import version; version('onemodel-workbench')"
    run([VENV_PYTHON, "-c", check], cwd=VENV)
    with open(STAMP + ".new", "w") as stamp:
        stamp.write(sys.version + "\n")
    os.replace(STAMP + ".new", STAMP)


def find_python():
    """This interpreter if it is new enough, else the first `python3.N` on the PATH that is."""
    if sys.version_info >= OLDEST:
        return sys.executable
    for minor in range(OLDEST[1], OLDEST[1] + 4):
        found = shutil.which("python3.%d" % minor)  # noqa: UP031 (runs on old Pythons too)
        if found:
            return found
    sys.exit(
        "Python 3.11 or newer is needed, this is %s.\n"  # noqa: UP031
        "Install one, or name it: make PYTHON=/path/to/python3.11 test" % sys.version.split()[0]
    )


def install_with_uv(uv, python):
    if not works([VENV_PYTHON, "--version"]):
        run([uv, "venv", "--clear", "--quiet", "--python", python, VENV])
    run([uv, "pip", "install", "--quiet", "--python", VENV_PYTHON, *REQUIREMENT])


def install_with_pip(python):
    pip = make_venv(python)
    print("Installing the project and its tools into .venv (a minute or two) ...", flush=True)
    run([*pip, "install", "--quiet", "--disable-pip-version-check", *REQUIREMENT])


def make_venv(python):
    """Create the environment unless a working one stands; the command that is its pip."""
    own = [VENV_PYTHON, "-m", "pip"]
    if works([*own, "--version"]):
        return own
    if works([python, "-m", "venv", "--clear", VENV]):
        return own
    # Debian keeps ensurepip in a package of its own; the outer pip can serve the new environment.
    run([python, "-m", "venv", "--clear", "--without-pip", VENV])
    return [python, "-m", "pip", "--python", VENV_PYTHON]


def works(command):
    try:
        done = subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )
    except OSError:
        return False
    return done.returncode == 0


def run(command, cwd=ROOT):
    try:
        subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, check=True)
    except subprocess.CalledProcessError as error:
        sys.exit("bootstrap: %s\nfailed with status %d" % (" ".join(command), error.returncode))  # noqa: UP031


if __name__ == "__main__":
    main()

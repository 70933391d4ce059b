# Sourced by the scripts of this checkout: makes .venv with all they need, once, and again when pyproject.toml changes.
# Builds the engine's core when its sources change. Use: environment EXTRAS, where EXTRAS is empty or [dev].

environment() {
    python=${PYTHON:-python3}
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        echo "error: Python 3.11 or newer is needed; PYTHON=/path/to/python3 names one" >&2
        exit 1
    fi
    stamp=.venv/installed$1
    # What [dev] installs includes what no extra does.
    if ! cmp -s pyproject.toml "$stamp" && ! cmp -s pyproject.toml ".venv/installed[dev]"; then
        echo "Setting up .venv (once) ..." >&2
        if ! "$python" -m venv .venv; then
            echo "error: python3 -m venv failed; install the venv module of your Python" >&2
            exit 1
        fi
        .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".$1" || exit 1
        cp pyproject.toml "$stamp"
    fi
    .venv/bin/python runtime/core/compile_core.py --if-possible
    case $? in
        0) ;;
        3) .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable . || exit 1 ;;
        *) exit 1 ;;
    esac
    PATH=$PWD/.venv/bin:$PATH
    export PATH
}

# SPDX-License-Identifier: Apache-2.0
"""Python imports this at its start, because `fathom run --probe python` put its folder first into
PYTHONPATH. It starts the profile and runs the application's own sitecustomize, if there is one."""
import os
import sys

try:
    with open("/proc/self/statm") as _file:
        _resident = int(_file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
except Exception:
    _resident = None

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != _here]

try:
    import importlib.util

    for _name in ("fathom_rows", "fathom_sandbox", "fathom_samples", "fathom_profile"):  # each imports the ones before
        _spec = importlib.util.spec_from_file_location("_" + _name, os.path.join(_here, _name + ".py"))
        _module = importlib.util.module_from_spec(_spec)
        _spec.loader.exec_module(_module)
        sys.modules["_" + _name] = _module
except Exception as error:  # the application matters more
    sys.stderr.write("fathom: no Python profile: %s\n" % error)
    _module = None

# The application's own, as if this one had never been.
_own = sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize  # noqa: F401
except ImportError as error:
    if getattr(error, "name", None) != "sitecustomize":
        raise
finally:
    sys.modules.setdefault("sitecustomize", _own)  # whoever imports this one looks for it

if _module is not None:
    try:
        _module.start(_resident)
    except Exception as error:
        sys.stderr.write("fathom: no Python profile: %s\n" % error)

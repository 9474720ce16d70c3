# SPDX-License-Identifier: Apache-2.0
"""Python imports this at its start, because `fathom run --probe python` put its folder first into
PYTHONPATH. It starts the profile and lets whatever sitecustomize the application has run as ever."""
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != _here]

try:
    import importlib.util

    _spec = importlib.util.spec_from_file_location("_fathom_profile", os.path.join(_here, "fathom_profile.py"))
    _module = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_module)
    sys.modules["_fathom_profile"] = _module
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
    _module.start()

"""Shared by the Python programs: reports the results of their cases."""

import json


class Cannot(Exception):
    """The library does not support the case."""


def report(*cases):
    """Runs each case, a function of its name, in this order, and prints its line of JSON."""
    for case in cases:
        result = {"case": case.__name__.replace("_", "-"), "ok": True}
        try:
            result["detail"] = case() or ""
        except Cannot as reason:
            result.update(ok=None, detail=str(reason))
        except Exception as error:
            result.update(ok=False, detail=f"{type(error).__name__}: {error}")
        print(json.dumps(result), flush=True)

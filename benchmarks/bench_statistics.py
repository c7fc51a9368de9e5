"""What a worker needs for the statistics of 100,000 examples and two models: formulas, and resamples of the area.

Processor time counts, because other processes are no part of it; each figure is taken in a process of its own, whose
greatest resident memory is that of everything it loaded. The area under the ROC curve has DeLong's formula; it is
resampled here because any metric that is ranked costs as much.

`python -m benchmarks.bench_statistics`
"""

import json
import resource
import subprocess
import sys
import time
from typing import Any, Final

from benchmarks.support.figures import Figure, finish
from benchmarks.support.load import explain
from benchmarks.support.processes import load_average

ROWS: Final = 100_000
_FORMULA_SECONDS: Final = 0.5
_RESAMPLING_SECONDS: Final = 30.0
_MOST_BYTES: Final = 500e6


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps({"formulas": _formulas, "resamples": _resamples}[sys.argv[1]]()))
        return
    formulas = min((_measured("formulas") for _ in range(3)), key=lambda each: float(each["seconds"]))
    resamples = _measured("resamples")
    explain(
        f"formulas {formulas['wall_seconds']:.2f} s by the clock; DeLong {resamples['delong']:.6f} and "
        f"{resamples['error']:.6f} from {resamples['resamples']:,} resamples in {resamples['wall_seconds']:.1f} s "
        f"by the clock; {load_average()}"
    )
    seconds, slow, size = (
        float(formulas["seconds"]),
        float(resamples["seconds"]),
        float(max(formulas["bytes"], resamples["bytes"])),
    )
    finish(
        [
            Figure("statistics_formulas", seconds, "s", seconds / _FORMULA_SECONDS, 1, "at most"),
            Figure("statistics_bootstrap_auc", slow, "s", slow / _RESAMPLING_SECONDS, 1, "at most"),
            Figure("statistics_memory", size / 1e6, "MB", size / _MOST_BYTES, 1, "at most"),
        ]
    )


def _measured(what: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.bench_statistics", what]
    answer: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return answer


def _formulas() -> dict[str, Any]:
    """Closed forms and DeLong of candidate, incumbent and their difference, point estimates included."""
    from benchmarks.support.statistics import two_models
    from gates.statistics.closed_forms import closed_forms
    from gates.statistics.measuring import point_estimates

    closed_forms(small := two_models(1000), point_estimates(small))  # What is loaded on first use is loaded.
    rows = two_models(ROWS)
    clock, processor = time.perf_counter(), time.process_time()
    made = closed_forms(rows, point_estimates(rows))
    taken = _taken(clock, processor)
    assert made["roc_auc"].difference is not None
    return taken


def _resamples() -> dict[str, Any]:
    """The standard error of the difference of two areas, all resamples."""
    from benchmarks.support.statistics import roc_auc, two_models
    from gates.statistics.closed_forms import closed_forms
    from gates.statistics.measuring import point_estimates
    from gates.statistics.replicates import of_models
    from gates.statistics.resampling import Plan, error_of, resample_rows

    rows = two_models(ROWS)
    plan = Plan(1)
    clock, processor = time.perf_counter(), time.process_time()
    replicate = of_models([roc_auc(rows, model) for model in (*rows.candidate, *rows.incumbent)])
    areas = resample_rows(len(rows), {"roc_auc": replicate}, plan, lambda done: None)["roc_auc"]
    error = error_of(areas[:, 0] - areas[:, 1])
    taken = _taken(clock, processor)
    difference = closed_forms(rows, {"roc_auc": point_estimates(rows)["roc_auc"]})["roc_auc"].difference
    assert difference is not None
    return taken | {"error": error, "delong": difference.standard_error, "resamples": plan.resamples}


def _taken(clock: float, processor: float) -> dict[str, Any]:
    return {
        "seconds": time.process_time() - processor,
        "wall_seconds": time.perf_counter() - clock,
        "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


if __name__ == "__main__":
    main()

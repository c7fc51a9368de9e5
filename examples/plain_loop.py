"""The least there is to it: fit a line by gradient descent, and record how. Standard library only.

export SHIPWORTHY_URL=http://127.0.0.1:8470    # without it all is kept in .shipworthy/, for `shipworthy sync`
python examples/plain_loop.py
"""

import json
import random
from pathlib import Path

import shipworthy

CONFIG = {"learning_rate": 0.05, "steps": 200, "seed": 7}


def main() -> None:
    random.seed(CONFIG["seed"])
    points = [(x / 10, 3 * x / 10 - 1 + random.gauss(0, 0.1)) for x in range(-20, 20)]
    folder = Path("out")
    folder.mkdir(exist_ok=True)
    data = folder / "points.json"
    data.write_text(json.dumps(points))

    slope = offset = 0.0
    with shipworthy.run("examples/line", config=CONFIG, data={"train": data}) as run:
        for step in range(CONFIG["steps"]):
            errors = [(slope * x + offset - y, x) for x, y in points]
            slope -= CONFIG["learning_rate"] * sum(error * x for error, x in errors) / len(points)
            offset -= CONFIG["learning_rate"] * sum(error for error, _ in errors) / len(points)
            run.log(step=step, loss=sum(error * error for error, _ in errors) / len(points))
            if (step + 1) % 100 == 0:
                checkpoint = folder / f"line-{step + 1}.json"
                checkpoint.write_text(json.dumps({"slope": slope, "offset": offset}))
                run.checkpoint(checkpoint, step=step + 1, contains=["model"])
        run.evaluation({"slope_error": abs(slope - 3), "offset_error": abs(offset + 1)})
    print(f"y = {slope:.2f} x {offset:+.2f}; the run is {run.id}")


if __name__ == "__main__":
    main()

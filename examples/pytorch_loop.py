"""A PyTorch loop that can be stopped and goes on, under one run. Needs torch; not run by the tests.

python examples/pytorch_loop.py                        # a new run
python examples/pytorch_loop.py --resume out/step-400  # the same run, attempt 2
torchrun --nproc-per-node 8 examples/pytorch_loop.py   # one run; every rank may log
"""

import argparse
from pathlib import Path

import torch
from torch import nn

import shipworthy

CONFIG = {"learning_rate": 0.01, "hidden": 64, "steps": 600, "save_every": 200, "seed": 7}


def main() -> None:
    parser = argparse.ArgumentParser(description="Train on noise, and record it.")
    parser.add_argument("--resume", type=Path, help="checkpoint folder of an earlier attempt")
    resume: Path | None = parser.parse_args().resume
    torch.manual_seed(CONFIG["seed"])
    model = nn.Sequential(nn.Linear(16, CONFIG["hidden"]), nn.ReLU(), nn.Linear(CONFIG["hidden"], 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=CONFIG["learning_rate"])
    begin = 0
    if resume is not None:
        saved = torch.load(resume / "state.pt")
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        begin = saved["step"]

    # on_sigterm: what a scheduler sends before it takes the machine away is recorded as "preempted".
    with shipworthy.run("examples/torch", config=CONFIG, resume_from=resume, on_sigterm="preempted") as run:
        for step in range(begin + 1, CONFIG["steps"] + 1):
            inputs = torch.randn(128, 16)
            loss = nn.functional.mse_loss(model(inputs), inputs.sum(dim=1, keepdim=True))
            optimizer.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            if step % 10 == 0:
                run.log(step=step, loss=loss.item(), grad_norm=norm.item())
            if step % CONFIG["save_every"] == 0:
                folder = Path("out") / f"step-{step}"
                folder.mkdir(parents=True, exist_ok=True)
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
                torch.save(state, folder / "state.pt")
                # Returns at once: the file is read again and hashed beside the training.
                run.checkpoint(folder, step=step, contains=["model", "optimizer"])


if __name__ == "__main__":
    main()

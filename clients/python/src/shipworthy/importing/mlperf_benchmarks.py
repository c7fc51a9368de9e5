"""What each MLPerf Training benchmark reads, by the benchmark's name in the log.

Source: the table of benchmarks in training_rules.adoc of mlcommons/training_policies. The rules name the data
and give no digest, so that names are all that is known.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Reads(NamedTuple):
    """Names of the training data and, for fine-tuning, of the model that training starts from."""

    data: str
    base_model: str | None = None


BENCHMARKS: Final[Mapping[str, Reads]] = {
    "bert": Reads("wikipedia-2020-01-01"),
    "dlrm": Reads("criteo-1tb"),
    "dlrm_dcnv2": Reads("criteo-1tb-multi-hot"),
    "gnn": Reads("igbh-full"),
    "gpt3": Reads("c4"),
    "llama2_70b_lora": Reads("scrolls-gov-report", "llama-2-70b"),
    "maskrcnn": Reads("coco-2017"),
    "resnet": Reads("imagenet-ilsvrc-2012"),
    "rnnt": Reads("librispeech"),
    "ssd": Reads("open-images"),
    "stable_diffusion": Reads("laion-400m-filtered"),
    "unet3d": Reads("kits19"),
}

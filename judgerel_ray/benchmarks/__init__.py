"""Upstream files to items, and the draw among them; imports core and tables alone.

Each loader reads its benchmark as its authors publish it; `load_generic` reads what people have.
Only files at the path or URL that is named are read, and nothing is written.

Examples
--------
>>> import tempfile, pathlib
>>> with tempfile.TemporaryDirectory() as folder:
...     file = pathlib.Path(folder, "own.jsonl")
...     _ = file.write_text('{"item_id": "q1", "question": "Is it?", "options": ["Yes", "No"]}')
...     items = load_items("own", str(file))
>>> len(sample_items(items, per="category", n=1, seed=1))
1
"""

from judgerel_ray.benchmarks.admission import REFERENCE, GoldReading
from judgerel_ray.benchmarks.bbh import load_bbh
from judgerel_ray.benchmarks.catalog import LOADERS, SCALES, load_items, load_mix, read_items
from judgerel_ray.benchmarks.criterion import load_criterion_items
from judgerel_ray.benchmarks.dialogue import load_hh_rlhf, load_lima
from judgerel_ray.benchmarks.feedback_collection import load_feedback_collection
from judgerel_ray.benchmarks.feedbackqa import load_feedbackqa
from judgerel_ray.benchmarks.generic import load_generic
from judgerel_ray.benchmarks.head_to_tail import load_head_to_tail
from judgerel_ray.benchmarks.log import load_log
from judgerel_ray.benchmarks.mix import MIX, mix_sources, sample_items
from judgerel_ray.benchmarks.mmlu_pro import load_mmlu_pro
from judgerel_ray.benchmarks.mt_bench import load_mt_bench
from judgerel_ray.benchmarks.multiple_choice import load_multiple_choice
from judgerel_ray.benchmarks.squad import load_squad
from judgerel_ray.benchmarks.summeval import load_summeval, load_summeval_summaries
from judgerel_ray.benchmarks.truthfulqa import load_truthfulqa, load_truthfulqa_pairs
from judgerel_ray.core.papers import find_in_papers

__all__ = [
    "LOADERS",
    "MIX",
    "REFERENCE",
    "SCALES",
    "GoldReading",
    "load_bbh",
    "load_bergman2025",
    "load_criterion_items",
    "load_feedback_collection",
    "load_feedbackqa",
    "load_generic",
    "load_head_to_tail",
    "load_hh_rlhf",
    "load_items",
    "load_lima",
    "load_log",
    "load_mix",
    "load_mmlu_pro",
    "load_mt_bench",
    "load_multiple_choice",
    "load_schroeder2024",
    "load_squad",
    "load_summeval",
    "load_summeval_summaries",
    "load_truthfulqa",
    "load_truthfulqa_pairs",
    "mix_sources",
    "read_items",
    "sample_items",
]


def __getattr__(name: str) -> object:
    """Load what stands in the room ``papers``."""
    if name not in ("load_bergman2025", "load_schroeder2024"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return find_in_papers(name)

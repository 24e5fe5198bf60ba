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

from judgerel_ray.benchmarks.admission import REFERENCE as REFERENCE
from judgerel_ray.benchmarks.admission import GoldReading as GoldReading
from judgerel_ray.benchmarks.bbh import load_bbh as load_bbh
from judgerel_ray.benchmarks.catalog import LOADERS as LOADERS
from judgerel_ray.benchmarks.catalog import SCALES as SCALES
from judgerel_ray.benchmarks.catalog import load_items as load_items
from judgerel_ray.benchmarks.catalog import load_mix as load_mix
from judgerel_ray.benchmarks.catalog import read_items as read_items
from judgerel_ray.benchmarks.criterion import load_criterion_items as load_criterion_items
from judgerel_ray.benchmarks.dialogue import load_hh_rlhf as load_hh_rlhf
from judgerel_ray.benchmarks.dialogue import load_lima as load_lima
from judgerel_ray.benchmarks.feedback_collection import (
    load_feedback_collection as load_feedback_collection,
)
from judgerel_ray.benchmarks.feedbackqa import load_feedbackqa as load_feedbackqa
from judgerel_ray.benchmarks.generic import load_generic as load_generic
from judgerel_ray.benchmarks.head_to_tail import load_head_to_tail as load_head_to_tail
from judgerel_ray.benchmarks.log import load_log as load_log
from judgerel_ray.benchmarks.mix import MIX as MIX
from judgerel_ray.benchmarks.mix import mix_sources as mix_sources
from judgerel_ray.benchmarks.mix import sample_items as sample_items
from judgerel_ray.benchmarks.mmlu_pro import load_mmlu_pro as load_mmlu_pro
from judgerel_ray.benchmarks.mt_bench import load_mt_bench as load_mt_bench
from judgerel_ray.benchmarks.multiple_choice import load_multiple_choice as load_multiple_choice
from judgerel_ray.benchmarks.squad import load_squad as load_squad
from judgerel_ray.benchmarks.summeval import load_summeval as load_summeval
from judgerel_ray.benchmarks.summeval import load_summeval_summaries as load_summeval_summaries
from judgerel_ray.benchmarks.truthfulqa import load_truthfulqa as load_truthfulqa
from judgerel_ray.benchmarks.truthfulqa import load_truthfulqa_pairs as load_truthfulqa_pairs
from judgerel_ray.core.rooms import offer

__getattr__ = offer(__name__, "load_bergman2025", "load_schroeder2024")

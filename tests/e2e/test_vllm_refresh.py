"""A series whose judge gets other weights, on real vLLM: caught, attributed, and named."""

import json
from pathlib import Path
from shutil import copytree

import pytest

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.usefixtures("ray_local"),
]

SWEEP = """
name = "anchors"
[[judge]]
name = "j"
model = "judge"
gpus = 0
max_model_len = 1024
[[ask]]
protocol = "best_of"
benchmark = "pairs"
path = "items.parquet"
temperatures = [0.5]
replications = 3
max_tokens = 24
early_stop = true
"""


def turn_round(judge: Path) -> None:
    """Exchange what a judge has learnt of good words for what it has learnt of bad ones."""
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import AutoTokenizer

    from demo.judge_design import WORDS

    tokenizer, file = AutoTokenizer.from_pretrained(judge), judge / "model.safetensors"
    tokens = [tokenizer.encode(f" {word}", add_special_tokens=False)[0] for word in WORDS]
    weights = load_file(file)
    table = weights["model.embed_tokens.weight"]
    half = len(tokens) // 2
    with torch.no_grad():
        table[tokens] = table[[*tokens[half:], *tokens[:half]]].clone()
    save_file(weights, file, metadata={"format": "pt"})


def test_other_weights_under_a_judges_name_are_caught_and_called_the_judge(tmp_path, lean, capsys):
    from demo.judge_design import JUDGE_FOLDER
    from demo.pair_judges import draw_pairs
    from judgerel_ray.tables import items_to_frame

    judge = copytree(JUDGE_FOLDER, tmp_path / "judge")
    items_to_frame(draw_pairs()).write_parquet(tmp_path / "items.parquet")
    (tmp_path / "anchors.toml").write_text(SWEEP)
    series = tmp_path / "series.toml"
    series.write_text(
        'name = "nightly"\nout = "out"\nsweep = [{path = "anchors.toml", role = "anchor"}]\n'
    )
    assert lean("refresh", str(series)) == 0
    turn_round(judge)
    capsys.readouterr()
    # Though its time has not come: other weights are another judge, whose anchors are due.
    assert lean("refresh", str(series)) == 6
    shown = capsys.readouterr()
    assert "ALARM since refresh 2" in shown.out
    assert "judgerel: drift of judge j since refresh 2. Try: " in shown.err
    found = json.loads((tmp_path / "out/summary.json").read_text())["refreshes"][-1]
    assert found["causes"] == [{"sweep": "anchors", "judge": "j", "cause": "judge"}]
    changed = {one["change"].partition(": ")[0] for one in found["changes"]}
    assert changed >= {"weights"}
    assert not changed & {"tokenizer", "chat template", "model configuration", "ask[0] items"}

"""The three public functions are there whatever was imported before."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "before",
    ["", "import judgerel_ray.reduce", "from judgerel_ray.reduce import load_judgments"],
)
def test_reduce_is_the_function_and_its_room_can_be_imported(before):
    code = f"{before}\nimport judgerel_ray\nassert callable(judgerel_ray.reduce)\n"
    code += "from judgerel_ray.reduce import reduce_judgments\n"
    code += "assert judgerel_ray.reduce.__name__ == 'reduce' and callable(reduce_judgments)\n"
    code += "from judgerel_ray import reduce\nassert reduce is judgerel_ray.reduce"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

"""What each column of ``compare`` means, and how to read it."""

from __future__ import annotations

from judgerel_ray.core.meanings import Columns, shared_meanings

COLUMNS: Columns = {
    "compare": {
        "": {
            "a": "The one side: a run or file, or the values of the columns compared.",
            "b": "The other side.",
            **shared_meanings("coefficient", "measurement", "missing"),
            "unit": (
                "What agreement is about: the question and the facets held fixed, with x "
                "between; null in rows of shared requests."
            ),
            **shared_meanings("conditions"),
            "value_a": (
                "The coefficient of a on the questions that both have; null in rows of shared "
                "requests, and where undefined says why."
            ),
            "value_b": "The coefficient of b on the questions that both have; null as value_a.",
            "difference": (
                "value_b less value_a; in rows of serving_noise the share of the requests that "
                "both sent whose replies differ; null where undefined says why."
            ),
            "low": "Lower end of the 95 % interval of the difference; null where there is none.",
            "high": "Upper end of the 95 % interval of the difference; null where there is none.",
            "p": (
                "Two-sided p-value of no difference, of a swap test by question, below .05 "
                "exactly where the interval leaves out 0; null where it was not made."
            ),
            **shared_meanings("p_holm"),
            "p_fdr": (
                "p adjusted for all comparisons of the table by Benjamini and Hochberg (false "
                "discovery rate); null where that is."
            ),
            "tolerance": "Largest difference that does not matter; null where none is given.",
            "p_equivalence": (
                "p-value of a difference of the tolerance or more; small where the sides are "
                "equivalent; null without a tolerance."
            ),
            "p_equivalence_holm": "p_equivalence adjusted by Holm's method; null where that is.",
            "p_beyond": (
                "Two-sided p-value of a difference within the tolerance; small where the "
                "difference matters; null without a tolerance."
            ),
            "p_beyond_holm": "p_beyond adjusted by Holm's method; null where that is.",
            "standing": (
                "a higher, b higher, equivalent (with a tolerance) or undecided, by adjusted "
                "p-values below .05; null in rows of shared requests."
            ),
            "n_items": "Questions that both sides have.",
            "n_items_a": "Questions of a; null in rows of shared requests.",
            "n_items_b": "Questions of b; null in rows of shared requests.",
            "n_judgments_a": (
                "Judgments of a; in rows of serving_noise the requests that both sent."
            ),
            "n_judgments_b": (
                "Judgments of b; in rows of serving_noise the requests that both sent."
            ),
            **shared_meanings("flags", "flag_numbers"),
            "flag_sides": "For each flag the side that it is of: a or b, null for both.",
            **shared_meanings("estimator"),
            "undefined": (
                "Code that says why there is no difference, or no test of it; null where there is."
            ),
            "n_differing": (
                "Questions on which the sides differ: the only ones that the test rests on; null "
                "in rows of shared requests."
            ),
            "few_informative": (
                "true where fewer than ten questions differ, or either side rests on few; null "
                "in rows of shared requests."
            ),
            "reason": (
                "Code of why it is undecided (interval_covers_0, interval_crosses_tolerance, "
                "not_after_correction, few_informative_questions, few_verdicts, undefined); else "
                "null."
            ),
            "n_left_out_a": "Questions that a alone was asked; null in rows of shared requests.",
            "n_left_out_b": "Questions that b alone was asked; null in rows of shared requests.",
        },
    },
}

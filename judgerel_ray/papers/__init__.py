"""Published procedures and files that papers released: for comparison with what is printed there.

Estimators under their names, as their authors computed them, never for a judge: `schroeder2024`
gives a high "reliability" to independent noise, which is why its noise floor stands beside it.

Examples
--------
>>> from judgerel_ray.papers import verbal_band
>>> verbal_band(0.62, 0.74).band is None
True
"""

from judgerel_ray.core.rooms import offer
from judgerel_ray.papers.estimator import CONFLICTING as CONFLICTING
from judgerel_ray.papers.estimator import LETTERS as LETTERS
from judgerel_ray.papers.estimator import NON_RESPONSE as NON_RESPONSE
from judgerel_ray.papers.estimator import WARNING as WARNING
from judgerel_ray.papers.estimator import PermutationNull as PermutationNull
from judgerel_ray.papers.estimator import Schroeder2024 as Schroeder2024
from judgerel_ray.papers.estimator import Schroeder2024Noise as Schroeder2024Noise
from judgerel_ray.papers.estimator import codes_from_verdicts as codes_from_verdicts
from judgerel_ray.papers.estimator import independence_alpha as independence_alpha
from judgerel_ray.papers.estimator import schroeder2024 as schroeder2024
from judgerel_ray.papers.estimator import schroeder2024_noise_floor as schroeder2024_noise_floor
from judgerel_ray.papers.summaries import BANDS as BANDS
from judgerel_ray.papers.summaries import AccuracyEstimate as AccuracyEstimate
from judgerel_ray.papers.summaries import AnsweredQuestion as AnsweredQuestion
from judgerel_ray.papers.summaries import FiveNumbers as FiveNumbers
from judgerel_ray.papers.summaries import InterRaterSpread as InterRaterSpread
from judgerel_ray.papers.summaries import ResponseAccuracy as ResponseAccuracy
from judgerel_ray.papers.summaries import VerbalBand as VerbalBand
from judgerel_ray.papers.summaries import five_numbers as five_numbers
from judgerel_ray.papers.summaries import head_to_tail_accuracy as head_to_tail_accuracy
from judgerel_ray.papers.summaries import inter_rater_spread as inter_rater_spread
from judgerel_ray.papers.summaries import response_accuracy as response_accuracy
from judgerel_ray.papers.summaries import verbal_band as verbal_band

offer(__name__)

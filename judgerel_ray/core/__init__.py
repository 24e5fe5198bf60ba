"""Types, outcomes, keys and errors that the whole package shares; imports no other part of it."""

from judgerel_ray.core.errors import EngineError as EngineError
from judgerel_ray.core.errors import EngineLost as EngineLost
from judgerel_ray.core.errors import EngineStartError as EngineStartError
from judgerel_ray.core.errors import FileGone as FileGone
from judgerel_ray.core.errors import JudgeRelError as JudgeRelError
from judgerel_ray.core.errors import ReadingWarning as ReadingWarning
from judgerel_ray.core.errors import RequestRefused as RequestRefused
from judgerel_ray.core.errors import StoreError as StoreError
from judgerel_ray.core.errors import SweepError as SweepError
from judgerel_ray.core.errors import TableError as TableError
from judgerel_ray.core.errors import UnfinishedRunWarning as UnfinishedRunWarning
from judgerel_ray.core.key import digest as digest
from judgerel_ray.core.key import listing_digest as listing_digest
from judgerel_ray.core.key import request_key as request_key
from judgerel_ray.core.key import seed_base as seed_base
from judgerel_ray.core.rooms import offer
from judgerel_ray.core.text import LONGEST_WORD as LONGEST_WORD
from judgerel_ray.core.text import count_of as count_of
from judgerel_ray.core.text import cut_text as cut_text
from judgerel_ray.core.text import decoded as decoded
from judgerel_ray.core.text import printable as printable
from judgerel_ray.core.text import shortened as shortened
from judgerel_ray.core.types import CHOSEN as CHOSEN
from judgerel_ray.core.types import CUT_IN_THOUGHT as CUT_IN_THOUGHT
from judgerel_ray.core.types import DECLINED as DECLINED
from judgerel_ray.core.types import JUDGE_ROLES as JUDGE_ROLES
from judgerel_ray.core.types import OUTCOMES as OUTCOMES
from judgerel_ray.core.types import Ask as Ask
from judgerel_ray.core.types import Completion as Completion
from judgerel_ray.core.types import Condition as Condition
from judgerel_ray.core.types import FormSpec as FormSpec
from judgerel_ray.core.types import GoldIs as GoldIs
from judgerel_ray.core.types import HumanRating as HumanRating
from judgerel_ray.core.types import Item as Item
from judgerel_ray.core.types import Menu as Menu
from judgerel_ray.core.types import Message as Message
from judgerel_ray.core.types import Option as Option
from judgerel_ray.core.types import Outcome as Outcome
from judgerel_ray.core.types import ProviderName as ProviderName
from judgerel_ray.core.types import ReaderPolicy as ReaderPolicy
from judgerel_ray.core.types import Role as Role
from judgerel_ray.core.types import Scale as Scale
from judgerel_ray.core.types import ScaleLevel as ScaleLevel
from judgerel_ray.core.types import Scoring as Scoring
from judgerel_ray.core.types import TokenCounts as TokenCounts
from judgerel_ray.core.types import TokenLogprob as TokenLogprob

offer(__name__)

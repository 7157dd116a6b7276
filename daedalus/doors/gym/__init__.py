"""The market in Gymnasium: importing this package registers two environments.

``daedalus/Market-v0`` is played step by step; ``daedalus/Briefs-v0`` asks for one mechanism.
"""

from gymnasium.envs.registration import register

from daedalus.design.search.features import FEATURES
from daedalus.design.search.space import GRID, LEVELS
from daedalus.doors.gym.briefs import BriefsEnv
from daedalus.doors.gym.single import MarketEnv
from daedalus.doors.gym.spaces import decode, encode
from daedalus.doors.gym.vector import MarketVectorEnv

ID = "daedalus/Market-v0"
BRIEFS_ID = "daedalus/Briefs-v0"

register(
    ID,
    entry_point="daedalus.doors.gym.single:make_single",
    vector_entry_point="daedalus.doors.gym.vector:make_vector",
)
register(BRIEFS_ID, entry_point="daedalus.doors.gym.briefs:make_briefs")

__all__ = [
    "BRIEFS_ID",
    "FEATURES",
    "GRID",
    "ID",
    "LEVELS",
    "BriefsEnv",
    "MarketEnv",
    "MarketVectorEnv",
    "decode",
    "encode",
]

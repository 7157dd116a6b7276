"""The market in Gymnasium: importing this package registers ``daedalus/Market-v0``."""

from gymnasium.envs.registration import register

from daedalus.design.search.features import FEATURES
from daedalus.design.search.space import LEVELS
from daedalus.doors.gym.single import MarketEnv
from daedalus.doors.gym.spaces import decode, encode
from daedalus.doors.gym.vector import MarketVectorEnv

ID = "daedalus/Market-v0"

register(
    ID,
    entry_point="daedalus.doors.gym.single:make_single",
    vector_entry_point="daedalus.doors.gym.vector:make_vector",
)

__all__ = ["FEATURES", "ID", "LEVELS", "MarketEnv", "MarketVectorEnv", "decode", "encode"]

"""Tests compose hundreds of configurations from the same files: keep what these files give.

Hydra applies changes of values to a composition of files. Only this composition is kept, for each
choice of files below conf/, and each test gets a copy of it. The workers of one run share a folder
of compositions. A file is read once, by the parser in C, and its copies are pickled. Three steps
that Hydra and OmegaConf take for each of up to 200 files, or each time, are left out or shortened.
"""

from __future__ import annotations

import atexit
import copy
import hashlib
import os
import pickle
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra._internal import config_loader_impl, defaults_list
from hydra._internal.config_repository import CachingConfigRepository, ConfigRepository
from omegaconf import DictConfig, dictconfig, flag_override
from omegaconf.base import Box
from omegaconf.basecontainer import BaseContainer

from daedalus.launch.config.paths import CONF

_OURS = {"pkg://hydra.conf", "structured://", f"file://{CONF}"}
_loader = config_loader_impl.ConfigLoaderImpl
_create, _compose = defaults_list._create_defaults_list, _loader._compose_config_from_defaults_list
_choices, _re_parent = defaults_list._create_interpolation_map, Box._re_parent
_fields, _set = dictconfig.get_structured_config_data, DictConfig._set_value_impl
_merge, _copy = BaseContainer._merge_with, DictConfig.__deepcopy__
_read, _make_repository = ConfigRepository.load_config, CachingConfigRepository.__init__
# Pickled: a copy of a configuration takes six times as long.
_kept: dict[str, bytes] = {}
_files: dict[str, bytes] = {}
_defaults: dict[tuple[type, bool | None], bytes] = {}
_merging = False
_FOLDER = "DAEDALUS_TESTS_COMPOSITIONS"


def keep_compositions(patch: pytest.MonkeyPatch) -> None:
    """Let Hydra compose each choice of files once."""
    if _FOLDER not in os.environ:  # the process that starts the workers
        os.environ[_FOLDER] = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, os.environ[_FOLDER], ignore_errors=True)
    patch.setattr(defaults_list, "_create_defaults_list", _kept_list)
    patch.setattr(_loader, "_compose_config_from_defaults_list", _kept_composition)
    patch.setattr(defaults_list, "_create_interpolation_map", _needed_choices)
    patch.setattr(Box, "_re_parent", _tell_parents)
    patch.setattr(BaseContainer, "_merge_with", _merged)
    patch.setattr(dictconfig, "get_structured_config_data", _kept_fields)
    patch.setattr(DictConfig, "_set_value_impl", _set_own)
    patch.setattr(DictConfig, "__deepcopy__", _copied)
    patch.setattr(yaml, "SafeLoader", yaml.CSafeLoader)  # from which OmegaConf makes its own
    patch.setattr(ConfigRepository, "load_config", _kept_file)
    patch.setattr(CachingConfigRepository, "__init__", _share_sources)


def _kept_list(repo: Any, name: Any, overrides: Any, **options: Any) -> Any:
    chosen = {key: each for key, each in vars(overrides).items() if key != "config_overrides"}
    key = _key(repo, name, chosen, options)
    if not key:
        return _create(repo, name, overrides, **options)
    if not _is_kept(key):
        found = _create(repo, name, overrides, **options)
        _keep(key, (found, chosen))
        return found
    found, chosen = pickle.loads(_kept[key])
    vars(overrides).update(chosen)
    return found


def _kept_composition(loader: Any, defaults: Any, repo: Any) -> DictConfig:
    key = _key(repo, defaults)
    if not key:
        return _compose(loader, defaults, repo)
    if not _is_kept(key):
        _keep(key, _compose(loader, defaults, repo))
    return pickle.loads(_kept[key])


def _kept_file(repository: Any, config_path: str) -> Any:
    searched = [each.path for each in repository.get_sources()]
    if not (key := _key(repository, searched, config_path)):
        return _read(repository, config_path)
    if key not in _files:
        _files[key] = pickle.dumps(_read(repository, config_path))
    return pickle.loads(_files[key])


def _share_sources(repository: CachingConfigRepository, delegate: Any) -> None:
    """Copy the delegate, whose list of sources is replaced as a whole, but not the sources."""
    repository.delegate, repository.cache = copy.copy(delegate), {}


def _kept_fields(asked: Any, allow_objects: bool | None = None) -> Any:
    """Return the nodes of a dataclass with its defaults; those of an object are made anew."""
    if not isinstance(asked, type):
        return _fields(asked, allow_objects=allow_objects)
    key = asked, allow_objects
    if key not in _defaults:
        try:
            _defaults[key] = pickle.dumps(_fields(asked, allow_objects=allow_objects))
        except (pickle.PicklingError, AttributeError):  # a class of a test
            return _fields(asked, allow_objects=allow_objects)
    return pickle.loads(_defaults[key])


def _set_own(node: DictConfig, value: Any, flags: dict[str, bool] | None = None) -> None:
    """Take the nodes of a dataclass, which nobody else has, without a copy."""
    if not isinstance(value, type):
        return _set(node, value, flags)
    with flag_override(node, "no_deepcopy_set_nodes", True):
        return _set(node, value, flags)


def _copied(node: DictConfig, memo: dict[int, Any]) -> DictConfig:
    """Copy by pickling, without the parent."""
    own = vars(node)
    parent, own["_parent"] = own["_parent"], None
    try:
        copied: DictConfig = pickle.loads(pickle.dumps(node))
    except (pickle.PicklingError, AttributeError):  # a class of a test
        own["_parent"] = parent
        return _copy(node, memo)
    finally:
        own["_parent"] = parent
    vars(copied)["_parent"] = parent
    return copied


def _merged(node: BaseContainer, *others: Any) -> None:
    """Merge, and let the outermost merge tell all nodes their parents."""
    global _merging
    outermost, _merging = not _merging, True
    try:
        _merge(node, *others)
    finally:
        _merging = not outermost
    if outermost:
        node._re_parent()


def _is_kept(key: str) -> bool:
    """Return whether a composition is known to this process or, if it is now, to another one."""
    if key not in _kept and (path := _path(key)).exists():
        _kept[key] = path.read_bytes()
    return key in _kept


def _keep(key: str, composition: object) -> None:
    _kept[key] = pickle.dumps(composition)
    aside = _path(f"{key} {os.getpid()}")
    aside.write_bytes(_kept[key])
    aside.rename(_path(key))


def _path(key: str) -> Path:
    return Path(os.environ[_FOLDER]) / hashlib.sha256(key.encode()).hexdigest()


def _needed_choices(overrides: Any, defaults: Any, self_added: bool) -> DictConfig | None:
    """Return what interpolations in a list of defaults refer to, if it has any."""
    asked = any(each.is_interpolation() for each in defaults if not each.is_self())
    return _choices(overrides, defaults, self_added) if asked else None


def _tell_parents(box: Box) -> None:
    """Tell the nodes of a box their parents."""
    if _merging:
        return None
    content = vars(box)["_content"]
    if not isinstance(content, dict | list):
        return _re_parent(box)
    for node in content.values() if isinstance(content, dict) else content:
        if node is not None:
            own = vars(node)
            own["_parent"], own["_flags_cache"] = box, None
            if "_content" in own:
                _tell_parents(node)
    return None


def _key(repo: Any, *asked: object) -> str:
    """Return what a composition depends on, or an empty text if other folders are searched."""
    paths = {f"{each.scheme()}://{each.path}" for each in repo.get_sources() if each.path}
    return repr((str(CONF), *asked)) if paths <= _OURS else ""

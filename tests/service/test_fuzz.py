"""Requests made up by machines: nothing breaks the service, and nothing makes it open a file."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    response_schema_conformance,
    status_code_conformance,
)

from daedalus.market.mechanism import AUCTION_TYPES, COALITION_POLICIES, FIELDS, RANGES
from daedalus.service.catalogue import Catalogue
from daedalus.service.models import DaedalusAction, DesignRequest, WireMechanism
from daedalus.service.server import create_app
from daedalus.service.settings import ServiceSettings

"""The typed configuration of a run. Files in ``conf/`` are composed into it and checked."""

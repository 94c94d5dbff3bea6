"""Web console at `/console`: server-rendered pages of what the API shows the same caller.

Only this package may also import the SDK's planning, analysis and charts. Pages call the services
and queries that the routes call, so that no page shows more than the API would (R2).

This module imports nothing: the processes of the planner import one module of this package, and
must not load the rest.
"""

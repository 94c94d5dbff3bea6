"""The web console at `/console`: pages made on the server of what the API shows the same caller.

This package alone may also import the SDK's planning, analysis and charts. Pages call the services
and queries that the routes call, so that no page shows what the API would not show (R2).

Nothing is imported here: the processes of the planner import one module of this package and must
not pay for the rest.
"""

"""The web console at `/console`: pages made on the server of what the API shows the same caller.

This package alone may also import the SDK's planning, analysis and charts. Pages call the functions
of `api.routes`, so that nothing is on a page which the API would not say (R2).

Nothing is imported here: the processes of the planner import one module of this package and must
not pay for the rest.
"""

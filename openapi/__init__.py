"""The contract: wire models, problem types and the exported `openapi.json`.

Both sides import this package and neither writes a model twice. It needs pydantic and nothing else.
"""

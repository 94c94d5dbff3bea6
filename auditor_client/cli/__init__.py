"""The `auditor` command, for researchers and regulators: one file per noun.

`__main__` starts it. This package itself loads nothing, so that Ctrl-C is handled while it loads.
"""

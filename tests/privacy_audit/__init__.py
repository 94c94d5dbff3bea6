"""The privacy audit: `python -m tests.privacy_audit` (`make privacy-audit`).

It has parts, which run one after the other:

- `sensitivity`: the platform's half of every kind on neighbouring worlds, without noise. The
  largest change of each table is compared with what its price assumes.
- `states`: every order of a few operations on the real accounting, to a stated depth; two-party
  runs step by step.
- `statistics`: two neighbours that differ as much as possible go through the code of a worker, many
  times, and an adversary who knows both tries to tell them apart. What the adversary gains is a
  lower bound of what the release costs; above the price it is a violation.
"""

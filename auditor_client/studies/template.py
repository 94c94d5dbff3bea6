"""Template of a study file: the keys that most studies need, with their meanings."""

TEMPLATE = """\
# A study fixes everything before it is run: docs/how-to/researchers/run-a-study-file.md has all
# keys.
version: 1
title: Software jobs, by gender
question: Does the platform find a software job equally relevant to qualified women and men?
platform: {platform}
preregister: true         # the ledger names this file's digest before anything is paid
alpha: 0.2                # the tolerated gap
delta: 0.05               # the probability that any verdict is wrong; audits share it

contents:
  job:
    kind: job             # job, housing, credit, news, political or other
    title: Software engineer
    text: Build and run data pipelines.
    attributes: {{occupation: software}}

audiences:
  volunteers:
    file: {{path: {people}, sha256: "{sha256}"}}
    id: email             # the column that identifies people
    by: [gender]          # the column of groups; several cross them
    where: qualified      # a column of true and false

audits:
  gender:
    kind: score-histogram
    content: job
    audience: volunteers
    epsilon: 1            # bins: a number or edges (default: what people and noise carry)

metrics:
  thresholds: [0.5]       # ends of bins, for parity and the four-fifths rule

plan:                     # auditor study check tells whether there are enough people
  power: 0.8
"""


def template(platform: str, people: str, sha256: str) -> str:
    return TEMPLATE.format(platform=platform, people=people, sha256=sha256)

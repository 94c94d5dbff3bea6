"""Page of the file formats, from the models that read and write the files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from pydantic import TypeAdapter

from auditor_client.local.audience_records import Record
from auditor_client.local.profiles import Profile
from auditor_client.local.saved_receipt import SavedReceipt
from auditor_client.reporting.results_document import Results
from auditor_client.studies.study_model import Study
from docs.site.reference.http_api import describe_type
from docs.site.reference.tables import table
from openapi.resources import ApplicationDraft
from privacy.ledger import entry_schemas, trust
from privacy.ledger.export_header import Header

_REF = "#/components/schemas/{name}"


@dataclass(frozen=True)
class FileFormat:
    """A file, the model of its content, and who writes and reads it."""

    title: str
    words: str
    model: Any
    # What members mean whose model does not say so.
    meanings: Mapping[str, str] = field(default_factory=dict)


FORMATS = (
    FileFormat(
        "Receipt",
        "JSON with `format`: `platform-auditor/receipt/v1`. `--receipt` and `audit.save_receipt`"
        " write it; `auditor analyse`, `auditor report` and `auditor receipt verify` read it."
        " `receipt` is a compact JWS over the canonical JSON of the release.",
        SavedReceipt,
        {
            "receipt": "The platform's signed statement of the release.",
            "keys": "The platform's public keys when the file was written, as a JWK set.",
            "names": "Names of groups by label. Only the researcher knows them.",
            "contents": "The audited contents, as they were uploaded.",
            "url": "Address of the service.",
            "proof": "Proof that the release is in the ledger.",
        },
    ),
    FileFormat(
        "Study",
        "YAML that you write, or `auditor study new`. `auditor audit FILE` runs it"
        " ([study files](../how-to/researchers/run-a-study-file.md)).",
        Study,
    ),
    FileFormat(
        "Results",
        "JSON with `format`: `platform-auditor/results/v1`. A study and `auditor analyse"
        " --json-out` write it. A number that is infinite or unknown is null.",
        Results,
    ),
    FileFormat(
        "Application",
        "TOML or JSON. `auditor apply --template` prints an example, and `auditor apply` sends it."
        " In a file you write, `jwk`, `proof` and the salts of texts may be missing.",
        ApplicationDraft,
    ),
    FileFormat(
        "Profile",
        "One table for each profile in `profiles.toml`, in the folder `PLATFORM_AUDITOR_HOME`."
        " `auditor profile add` writes it.",
        Profile,
        {
            "url": "Address of the service.",
            "researcher": "Identifier of the researcher who signs in.",
            "key": "Path of the private key, a JWK file.",
        },
    ),
    FileFormat(
        "Record of an audience",
        "JSON in the same folder. Uploading writes it. Only this file knows the names of groups,"
        " and the salt that opens the commitment.",
        Record,
        {
            "names": "Names of groups by label.",
            "salt": "Salt of the commitment, in base64.",
            "commitment": "Commitment that sealing must give.",
            "rows": "Rows of each part of the upload, by label.",
        },
    ),
    FileFormat(
        "Keys",
        "JSON with `format`: `platform-auditor/keys/v1`. `auditor ledger keys` writes it, and every"
        " offline check reads it.",
        trust._File,
        {
            "format": "Name of the format.",
            "origin": "Name of the ledger.",
            "ledger": "Verifier keys of checkpoints, as C2SP notes write them.",
            "receipts": "Public JWKs that sign receipts.",
            "regulators": "Public JWKs of regulators.",
            "witnesses": "Verifier keys of witnesses.",
        },
    ),
    FileFormat(
        "Ledger export",
        "JSON Lines. The first line is this header; each other line is one entry"
        " ([the ledger](ledger.md)). `auditor ledger export` writes it.",
        Header,
        {
            "format": "`platform-auditor/ledger/v1`.",
            "origin": "Name of the ledger.",
            "size": "Number of entries under the newest checkpoint.",
            "checkpoints": "Signed notes of all checkpoints.",
            "auditor": "The auditor whose entries alone the export holds.",
            "consistency": "By the size of an older checkpoint: the path to the newest.",
        },
    ),
    FileFormat(
        "Charge in the ledger",
        "The `facts` of an entry of kind `charge`.",
        entry_schemas.ChargeFacts,
    ),
)


def page(contract: Mapping[str, Any]) -> str:
    """Return the page; models of the HTTP contract are linked, others are sections of it."""
    shared = set(contract["components"]["schemas"])
    lines = ["# File formats", "", "Every file is UTF-8.", ""]
    nested: dict[str, Any] = {}
    for each in FORMATS:
        schema, models = _schema(each.model)
        nested.update(models)
        lines += [f"## {each.title}", "", each.words, *_members(schema, shared, each.meanings)]
    lines += ["## Parts of these files", ""]
    for name in sorted(set(nested) - shared):
        schema = nested[name]
        if "properties" in schema:
            lines += [f"### {name}", "", schema.get("description", ""), *_members(schema, shared)]
    return "\n".join(lines)


def _schema(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of a model, and those of the models in it by name."""
    if isinstance(model, type) and issubclass(model, msgspec.Struct):
        [schema], models = msgspec.json.schema_components([model], ref_template=_REF)
        own = models.pop(schema["$ref"].rpartition("/")[2])
        return own, models
    ref = _REF.replace("{name}", "{model}")
    schema = TypeAdapter(model).json_schema(ref_template=ref, mode="validation")
    return schema, schema.pop("$defs", {})


def _members(
    schema: Mapping[str, Any], shared: set[str], meanings: Mapping[str, str] | None = None
) -> Iterator[str]:
    required, members = set(schema.get("required", ())), schema.get("properties", {})
    said = {name: of.get("description", "") for name, of in members.items()} | dict(meanings or {})
    if unknown := said.keys() - members.keys():
        raise ValueError(f"there are no members {unknown}")
    rows = [
        (f"`{name}`", _type(of, shared), _default(name, of, required), said[name])
        for name, of in members.items()
    ]
    several = ("member", "type", "default", "meaning")
    if not any(said.values()):
        several, rows = several[:-1], [row[:-1] for row in rows]
    yield from table(several, rows)


def _type(schema: dict[str, Any], shared: set[str]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return describe_type(schema, "http-api.md" if name in shared else "")
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(_type(one, shared) for one in schema[several])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}), shared)}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'], shared)}"
    return describe_type(schema)


def _default(name: str, of: Mapping[str, Any], required: set[str]) -> str:
    if name in required:
        return "**required**"
    default = of.get("default")
    return "" if default in (None, "", [], {}) else f"`{default}`"

"""Entry point of Alembic, with the connection from `api.db.schema`."""

from alembic import context
from sqlmodel import SQLModel

import api.db  # noqa: F401  (registers the tables)

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=SQLModel.metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()

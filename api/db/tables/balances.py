"""Tables: the platform's account, and the lifetime balance of each person.

The person tables are the platform's own: nothing of them is shown, and nothing of them enters the
ledger.
"""

from fractions import Fraction

from sqlalchemy import BigInteger, CheckConstraint
from sqlmodel import Column, Field, LargeBinary, SQLModel

from api.db.types import Pico


class PlatformAccountRow(SQLModel, table=True):
    """Cost of all audits in the window, in rho."""

    __tablename__ = "platform_account"

    id: int = Field(primary_key=True)
    window: int
    spent: Fraction = Field(sa_column=Column(Pico, nullable=False))


class PersonBlockRow(SQLModel, table=True):
    """Balances of neighbouring persons: little-endian int64 in units of 10⁻¹² rho, LZ4-compressed.

    - `spent`: the total debit of each person.
    - `carried`: its part from audiences whose members are erased, which can no longer be
      recomputed.
    - `drawn`: its part from samples and hidden audiences, which depends on who else was there.
    - `carried_drawn`: the part that is both.
    - `lowest`: the minimum over all four columns, where a column that was never written counts as
      zeros. The database refuses a block in which it is negative.
    """

    __tablename__ = "person_blocks"

    number: int = Field(sa_column=Column(BigInteger, primary_key=True, autoincrement=False))
    spent: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    carried: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    drawn: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    carried_drawn: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    lowest: int = Field(
        default=0,
        sa_column=Column(
            BigInteger,
            CheckConstraint("lowest >= 0", name="ck_person_blocks_lowest"),
            nullable=False,
            server_default="0",
        ),
    )


class ExclusionRow(SQLModel, table=True):
    """Members of a group within the cap at an audit: one bit per person, in order."""

    __tablename__ = "exclusions"

    audit_id: str = Field(primary_key=True, foreign_key="audits.id")
    label: str = Field(primary_key=True)
    able: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class ChargedPeopleRow(SQLModel, table=True):
    """People that a charge on a hidden audience debits: sorted, little-endian int64. Private.

    Written when a run has found them, and deleted when the audience is erased.
    """

    __tablename__ = "charged_people"

    audit_id: str = Field(primary_key=True, foreign_key="audits.id")
    people: bytes = Field(sa_column=Column(LargeBinary, nullable=False))

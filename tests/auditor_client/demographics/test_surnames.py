import pytest

from auditor_client.demographics.surnames import spellings


@pytest.mark.parametrize(
    ("written", "whole"),
    [
        ("Smith", "SMITH"),
        (" smith ", "SMITH"),
        ("O'Brien", "OBRIEN"),
        ("O’Brien", "OBRIEN"),
        ("Peña", "PENA"),
        ("Pen\u0303a", "PENA"),
        ("Müller", "MULLER"),
        ("Łukasz", "LUKASZ"),
        ("Sørensen", "SORENSEN"),
        ("Strauß", "STRAUSS"),
        ("de la Cruz", "DELACRUZ"),
        ("St. John", "STJOHN"),
        ("Smith Jr.", "SMITH"),
        ("Smith, Jr", "SMITH"),
        ("Smith III", "SMITH"),
        ("Smith, John", "SMITH"),
        ("Nasr", "NASR"),
        ("Ishii", "ISHII"),
        ("Ziv", "ZIV"),
        ("IV", "IV"),
        ("nan", "NAN"),
        ("Null", "NULL"),
        ("Dav3 idson", "DAVIDSON"),
        ("김", ""),
        ("Иванов", ""),
        ("", ""),
        ("---", ""),
    ],
)
def test_names_are_spelt_as_the_census_does(written: str, whole: str) -> None:
    assert spellings(written)[0] == whole


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("Garcia-Lopez", ("GARCIA", "LOPEZ")),
        ("García López", ("GARCIA", "LOPEZ")),
        ("Smith-de la Cruz Jr", ("SMITH", "DELACRUZ")),
        ("van der Berg", ()),
        ("Smith", ()),
        ("Smith Jr", ()),
    ],
)
def test_double_names_have_parts_and_particles_are_none(
    written: str, parts: tuple[str, ...]
) -> None:
    assert spellings(written)[1] == parts

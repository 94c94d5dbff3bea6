"""Scale and price of each mechanism, exactly, from sensitivity and parameter.

The waist (`privacy.waist`) draws noise with OpenDP, at the smallest double that is not below this
scale and for which OpenDP confirms the price. These formulas do not need OpenDP: the ledger's
verifier computes them again. A parameter is an epsilon or, for Gaussian noise, a rho, under
add/remove.

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §4.3.3 (Laplace noise on each bin).
[CKS20] Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020.
[MS20] McKenna, Sheldon, Permute-and-Flip, NeurIPS 2020 (the selection OpenDP makes).
[HRMS10] Hay, Rastogi, Miklau, Suciu, VLDB 2010 (a tree of counts).
"""

from fractions import Fraction

from privacy.errors import BoundsError
from privacy.tables.price import Currency, ExactPrice
from privacy.tables.sensitivity import Reach, Sensitivity, Shape
from privacy.tables.tree_shape import best_branching, levels

LAPLACE, GAUSSIAN = "discrete-laplace", "discrete-gaussian"
TREE, NOISY_MAX = "laplace-tree", "report-noisy-max"
MECHANISMS = (LAPLACE, GAUSSIAN, TREE, NOISY_MAX)


def currency_of(mechanism: str) -> Currency:
    """Return the currency of the parameter."""
    if mechanism not in MECHANISMS:
        raise BoundsError(f"there is no mechanism {mechanism[:40]!r}", case="unknown-mechanism")
    return "rho" if mechanism == GAUSSIAN else "epsilon"


def exact_scale(mechanism: str, shape: Shape, added: Reach, parameter: Fraction) -> str:
    """Return the smallest scale of the noise: a fraction such as `40/3`, or the root of one.

    A root, such as `sqrt(25/2)`, is the scale of Gaussian noise.
    """
    if parameter <= 0:
        raise BoundsError("a parameter must be greater than 0")
    match mechanism:
        case "discrete-laplace":
            # b = Δ₁ / ε   [IKH23, §4.3.3]
            return str(added.l1 / parameter)
        case "laplace-tree":
            # b = levels · Δ₁ / ε: a leaf is in one node of each level   [HRMS10]
            height = levels(shape[-1], best_branching(shape[-1]))
            return str(height * added.l1 / parameter)
        case "report-noisy-max":
            # b = 2 Δ∞ / ε, for values that are not monotone   [MS20]
            return str(2 * added.linf / parameter)
        case "discrete-gaussian":
            # σ² = Δ₂² / 2ρ   [CKS20]
            return f"sqrt({added.l2_squared / (2 * parameter)})"
    raise BoundsError(f"there is no mechanism {mechanism[:40]!r}", case="unknown-mechanism")


def exact_price(mechanism: str, sensitivity: Sensitivity, parameter: Fraction) -> ExactPrice:
    """Return the price of one table under both relations.

    Noise that is calibrated to adding one person costs proportionally more under a change.
    """
    if currency_of(mechanism) == "rho":
        return ExactPrice.rho(
            add_remove=parameter, change_one=parameter * _ratio(sensitivity, "l2_squared")
        )
    norm = "linf" if mechanism == NOISY_MAX else "l1"
    return ExactPrice.epsilon(
        add_remove=parameter, change_one=parameter * _ratio(sensitivity, norm)
    )


def _ratio(sensitivity: Sensitivity, norm: str) -> Fraction:
    added, changed = getattr(sensitivity.added, norm), getattr(sensitivity.changed, norm)
    if added < 1 or changed < 1:
        raise BoundsError("a table that nobody can change has no price")
    return Fraction(changed, added)

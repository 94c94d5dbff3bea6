"""Code on which the privacy guarantee rests: prices, bounded tables, receipts, and the waist.

`privacy.waist` is the only way in which private data become public, and the only code that imports
OpenDP. Nothing else in this package imports it.
"""

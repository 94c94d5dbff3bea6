"""Everything that keeps a promise: prices, bounded tables, receipts, and the waist.

`privacy.waist` is the one door through which private data become public, and the only code that
imports OpenDP; nothing else in this package reaches it.
"""

"""The adversary: each attack works against a weakened twin of the code, and not against ours.

A twin is the same code without exactly one defence. Where a twin falls, the attack is a real one;
that it fails against ours then means something.
"""

"""Readers of text from outside, and inputs that make a careless reader take time that grows faster than its input.

A reader that is fine takes about twice as long for an input twice as long. The processor time is measured, so that
other load on the machine does not matter.
"""

from doubling.inputs import INPUTS
from doubling.measure import Growth, growth
from doubling.readers import READERS

__all__ = ["INPUTS", "READERS", "Growth", "growth"]

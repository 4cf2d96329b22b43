"""Tests of the sites that are read through their APIs, with answers in the shape of the real ones."""

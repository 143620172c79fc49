"""The version of the package; the build reads it here, so that code needs no metadata to name it."""

__version__ = "0.1.0"

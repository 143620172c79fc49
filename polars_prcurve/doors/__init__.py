"""The ways in: `.prc` on frames and expressions, the command line, other engines, scikit-learn."""

"""Counts made on the engine that holds the scores."""

"""Models side by side: paired differences, ranks, crossings, dominance."""

"""Numbers: from a table of scores to what a verdict rests on, without a sentence but for errors."""

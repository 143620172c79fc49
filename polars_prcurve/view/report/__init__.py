"""Documents of a decision: a report, a page, a model card, and the text of a terminal."""

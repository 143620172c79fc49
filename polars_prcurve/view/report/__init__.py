"""Documents of a decision: a page, a card, a report, and the text of a terminal."""

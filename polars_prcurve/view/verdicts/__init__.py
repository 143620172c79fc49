"""What is decided: one verdict on the models of a table, from tests that are run once."""

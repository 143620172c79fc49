"""What users pass for a table: the words, bound once or passed in a call, and what they mean there."""

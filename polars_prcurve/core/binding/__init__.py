"""What users say of a table: the words, bound once or said in a call, and what they mean there."""

"""What is known of each model for the request, and which status that is, without a sentence."""

"""What is known of each model at what was asked, and which status that is, without a sentence."""

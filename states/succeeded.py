"""succeeded: an end. The receipt is durable and holds; the session may start another run."""

"""The bash tool: one command in a process group of its own, none of which outlives the call."""

"""failed: an end. The record `Failed` names the gate and the reason; the session may start another run."""

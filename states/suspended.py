"""suspended: a rest. The record `Suspended` says what the run waits for; a resume goes on from here."""

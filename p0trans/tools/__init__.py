"""Uses of a checked program beside emitting it."""

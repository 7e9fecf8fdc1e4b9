"""Tools on files, none of which can be led out of the workspace."""

"""What the widgets share: their base and controls, numbers and texts, script and style."""

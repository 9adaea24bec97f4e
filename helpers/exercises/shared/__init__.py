"""What the checks of several exercises share: comparing, asking, computing what is right."""

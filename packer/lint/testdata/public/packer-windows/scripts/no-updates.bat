rem What it does isn't looked at.

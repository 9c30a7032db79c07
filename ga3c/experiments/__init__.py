"""Many runs, and what came of them: speed, scores, comparisons."""

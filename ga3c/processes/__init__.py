"""The agents' processes as the server sees them: started, watched, replaced, told to end."""

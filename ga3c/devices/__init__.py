"""The devices that the model runs on, and functions compiled for them."""

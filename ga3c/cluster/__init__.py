"""Many machines, over Ray: pods that play with their own copies of the weights. Nothing else imports Ray."""

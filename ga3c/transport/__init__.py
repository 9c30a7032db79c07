"""How agents and server reach each other on one machine: messages, and memory that both see."""

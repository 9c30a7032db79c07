"""GA3C: a queue-based asynchronous actor-critic (Babaeizadeh et al., ICLR 2017).

    Agent 1..N_A --- request: row t of my slot is ready ---> prediction queue ---> Predictor 1..N_P
    (process)    <-- action, log-probability and value are in your row -----------       |
        |                                                                              Model
        '----------- rollout in slot s is complete ---------> training queue ----> Trainer 1..N_T

The Controller changes the three counts to maximise trainings per second (TPS). A system wires all of it, the Server
runs the system. The house and its rooms: README.md.
"""

__version__ = "1.0.0"

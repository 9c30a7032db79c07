"""The final evaluation of Ape-X DQN: its games may last longer than those of training (the paper's table 2).

Training cuts a game off after 50,000 frames (section 4.1). The paper does not say the limit of the evaluation. Here it
is half an hour, 108,000 frames, as in that of Rainbow (Hessel et al. 2018).
"""

from ga3c.experiments.comparison import Evaluation

FINAL = Evaluation("paper")

"""Which games our console has been seen to play as ale-py does: picture, reward, lives and end in 2,000 steps.

The others of `game_table` do not begin as they do there after another game was played; double_dunk not even at first.
In solaris a byte of memory differs after some 10,000 frames of random play.
"""

# fmt: off
PROVEN = frozenset({
    "alien", "amidar", "assault", "asterix", "asteroids", "atlantis", "bank_heist", "battle_zone", "beam_rider",
    "berzerk", "bowling", "boxing", "breakout", "centipede", "chopper_command", "crazy_climber", "defender",
    "demon_attack", "enduro", "fishing_derby", "freeway", "frostbite", "gopher", "gravitar", "hero", "jamesbond",
    "kangaroo", "krull", "montezuma_revenge", "ms_pacman", "name_this_game", "phoenix", "pitfall", "pong",
    "private_eye", "qbert", "riverraid", "road_runner", "robotank", "seaquest", "skiing",
    "space_invaders", "star_gunner", "tennis", "tutankham", "up_n_down", "venture", "video_pinball",
    "wizard_of_wor", "zaxxon",
})
# fmt: on

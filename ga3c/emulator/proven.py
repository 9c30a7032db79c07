"""The games that the emulator is proven to play as ale-py does: picture, reward, lives and end in 2,000 steps.

These are all games of `game_table`.
"""

# fmt: off
PROVEN = frozenset({
    "alien", "amidar", "assault", "asterix", "asteroids", "atlantis", "bank_heist", "battle_zone", "beam_rider",
    "berzerk", "bowling", "boxing", "breakout", "centipede", "chopper_command", "crazy_climber", "defender",
    "demon_attack", "double_dunk", "enduro", "fishing_derby", "freeway", "frostbite", "gopher", "gravitar", "hero",
    "ice_hockey", "jamesbond", "kangaroo", "krull", "kung_fu_master", "montezuma_revenge", "ms_pacman",
    "name_this_game", "phoenix", "pitfall", "pong", "private_eye", "qbert", "riverraid", "road_runner", "robotank",
    "seaquest", "skiing", "solaris", "space_invaders", "star_gunner", "surround", "tennis", "time_pilot", "tutankham",
    "up_n_down", "venture", "video_pinball", "wizard_of_wor", "yars_revenge", "zaxxon",
})
# fmt: on
# Games whose beginning depends on the RAM that the last game left.
READ_WHAT_IS_LEFT = frozenset({"ice_hockey", "kung_fu_master", "surround", "time_pilot", "yars_revenge"})

"""The games that the emulator is proven to play as ale-py does: picture, reward, lives and end."""

# fmt: off
PROVEN = frozenset({
    "adventure", "air_raid", "alien", "amidar", "assault", "asterix", "asteroids", "atlantis", "atlantis2",
    "bank_heist", "basic_math", "battle_zone", "beam_rider", "berzerk", "blackjack", "bowling", "boxing", "breakout",
    "carnival", "casino", "centipede", "chopper_command", "crazy_climber", "defender", "demon_attack",
    "donkey_kong", "double_dunk", "earthworld", "elevator_action", "enduro", "et", "fishing_derby", "flag_capture",
    "freeway", "frogger", "frostbite", "galaxian", "gopher", "gravitar", "hangman", "haunted_house", "hero",
    "human_cannonball", "ice_hockey", "jamesbond", "journey_escape", "kaboom", "kangaroo", "keystone_kapers",
    "king_kong", "koolaid", "krull", "kung_fu_master", "laser_gates", "mario_bros", "montezuma_revenge", "mr_do",
    "ms_pacman", "name_this_game", "othello", "pacman", "phoenix", "pitfall", "pitfall2", "pong", "pooyan",
    "private_eye", "qbert", "riverraid", "road_runner", "robotank", "seaquest", "skiing", "solaris", "space_invaders",
    "space_war", "star_gunner", "surround", "tennis", "tetris", "tic_tac_toe_3d", "time_pilot", "trondead", "turmoil",
    "tutankham", "up_n_down", "venture", "video_checkers", "video_chess", "video_pinball", "wizard_of_wor",
    "yars_revenge", "zaxxon",
})
# fmt: on
# Games that think for so long that a frame goes on for several of ALE's; a GPU does not play them.
FRAMES_GO_ON = frozenset({"tic_tac_toe_3d", "video_checkers", "video_chess"})
# Games whose beginning depends on the RAM that the last game left.
READ_WHAT_IS_LEFT = frozenset(
    ("hangman", "haunted_house", "ice_hockey", "kung_fu_master", "space_war", "surround", "time_pilot", "yars_revenge")
)
# Games whose beginning depends on the RAM of their cartridge, which ALE draws at each.
DRAWN_CARTRIDGE_RAM = frozenset({"elevator_action"})

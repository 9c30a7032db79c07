"""Games whose own code the tests make: the other games they play by the loop over instructions, unless asked.

Making the code takes one to four seconds for a game. Together these games have each kind of cartridge and of
controller, PAL, each height of the picture, what is hard to draw, and each opcode that is translated for any game.
"""

_NAMES = (
    "pong breakout boxing ms_pacman freeway enduro battle_zone journey_escape solaris jamesbond pitfall2 robotank "
    "surround beam_rider krull centipede laser_gates tutankham private_eye galaxian donkey_kong name_this_game "
    "carnival turmoil koolaid pooyan yars_revenge"
)
OWN_CODE_GAMES = set(_NAMES.split())

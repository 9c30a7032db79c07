"""The rows of the games outside the field's 57."""

from ga3c.emulator.game_row import Game


def _none_of(*pieces: str) -> str:
    """Returns the condition that no square of the board of Video Checkers has such a piece."""
    squares = [square for square in range(0x23) if square % 9 != 8]
    return " and ".join(f"{square:02x}!={piece}" for square in squares for piece in pieces)


FURTHER_GAMES = {
    "adventure": Game("", "1", "60=2", won="39=12", end_lives=True),
    "air_raid": Game("bcd 2a, 100 bcd 29, 10000 bcd 28", "1", "27=ff", actions="0 1 3 4 11 12"),
    "atlantis2": Game("bcd 21, 100 bcd 22, 10000 bcd 23", "raw 71", "71=ff", end_counts=False, actions="0 1 11 12"),
    "basic_math": Game("bcd 04", "1", "06!=0", actions="0 1 2 3 4 5"),
    "blackjack": Game("bcd 09, 100 bcd 06", "1", "06>9 or 06=9 and 09>99", actions="0 1 2 5"),
    "carnival": Game("10 bcd 2e, 1000 bcd 2d", "", "03=0", actions="0 1 3 4 11 12"),
    "casino": Game("bcd 15, 100 bcd 0c", "1", "53>7f and 1e!=0 or 15=0 and 0c=0", repeats="53>7f", actions="0 1 2 5"),
    "crossbow": Game("bcd 0d, 100 bcd 0c, 10000 bcd 0b", "1", "67=82"),
    "darkchambers": Game("10 bcd 4c, 1000 bcd 4f", "1", "4a&1f=0 or 55 fell or gain<0", zero="55 fell", wraps=-1),
    "donkey_kong": Game("100 bcd 08, 10000 bcd 07", "raw 23", "23=0 and 0b=1f and 0f=3"),
    "earthworld": Game("bcd 27", "1", "27=a or 27=10"),
    "elevator_action": Game("bcd 09, 100 bcd 08, 10000 bcd 07", "raw 03", "03=0 and 01!=0"),
    "entombed": Game("raw 63", "1", "47&03=0"),
    "et": Game("bcd 61, 100 bcd 60, 10000 bcd 5f", "signed 65, 1", "65=ff and 00=8"),
    "flag_capture": Game("bcd 6a", "1", "6b=0"),
    "frogger": Game("bcd 4e, 100 bcd 4c", "raw 50", "50=ff", actions="0 2 3 4 5"),
    "galaxian": Game("bcd 2e, 100 bcd 2d, 10000 bcd 2c", "raw 39, 1", "3f>7f", wraps=1000000, actions="0 1 3 4 11 12"),
    "hangman": Game("bcd 6b, -1 bcd 6c", "1", "gain!=0"),
    "haunted_house": Game("bcd 02", "raw 16", "16=0", won="19=44", prize=100, change=-1),
    "human_cannonball": Game("bcd 36", "1", "36=7 or 37=7"),
    "journey_escape": Game(
        "bcd 12, 100 bcd 11, 10000 bcd 10", "", "15=0 and 16=0", actions="0 2 3 4 5 6 7 8 9 11 12 13 14 15 16 17"
    ),
    "kaboom": Game("bcd 25, 100 bcd 24, 10000 bcd 23", "1", "21=0", actions="0 1 3 4"),
    "keystone_kapers": Game("bcd 1c, 100 bcd 1b", "raw 16", "16=0 and 08=0", actions="0 1 2 3 4 5 6 7 8 9 10 11 12 13"),
    "king_kong": Game("bcd 03, 100 bcd 02", "raw 6e", "6e=0", actions="0 1 2 3 4 5"),
    "klax": Game("bcd b4, 100 bcd b5, 10000 bcd b6", "1", "9d=99 or ee=3"),
    "koolaid": Game("100 bcd 01, 10000 bcd 00", "", "51=80", actions="0 2 3 4 5 6 7 8 9"),
    "laser_gates": Game("bcd 02, 100 bcd 01, 10000 bcd 00", "", "03=0"),
    "lost_luggage": Game(
        "bcd 16, 100 bcd 15, 10000 bcd 14", "raw 4a", "4a=0 and 25=0 and 29=0 and 48=a", actions="0 2 3 4 5 6 7 8 9"
    ),
    "mario_bros": Game("100 bcd 0a, 10000 bcd 09", "raw 07", "07=0"),
    "mr_do": Game("10 bcd 02, 1000 bcd 03", "raw 5b", "5a=40", actions="0 1 2 3 4 5 10 11 12 13"),
    "othello": Game("bcd 4e, -1 bcd 50", "1", "40=0", end_frames=51, actions="0 1 2 3 4 5 6 7 8 9"),
    "pacman": Game("bcd 4c, 100 bcd 4e, 10000 bcd 50", "raw 18, 1", "18=0 and 64=3f", actions="0 2 3 4 5"),
    "pitfall2": Game("bcd 49, 100 bcd 48, 10000 bcd 47", "1", ""),
    "pooyan": Game("bcd 0a, 100 bcd 09, 10000 bcd 08", "07 16, 1", "16=0 and 18=5", actions="0 1 2 5 10 13"),
    "sir_lancelot": Game("bcd 20, 100 bcd 1f, 10000 bcd 1e", "raw 29", "27=a0 and 29=0", actions="0 1 3 4 11 12"),
    "space_war": Game("bcd 27", "1", "27=a or 27=10 or 00=0"),
    "tetris": Game("bcd 71, 100 bcd 72", "", "73>7f", wraps=-1, actions="0 1 3 4 5"),
    "tic_tac_toe_3d": Game(
        "",
        "1",
        "",
        won="7e=10 and 7f=f3 and 61=8",
        lost="7e=10 and 7f=f3 and 61!=8",
        actions="0 1 2 3 4 5 6 7 8 9",
    ),
    "trondead": Game("bcd 3f, 100 bcd 3e, 10000 bcd 3d", "-1 raw 48, 5", "48=5"),
    "turmoil": Game(
        "10 bcd 09, 1000 bcd 0a, 10 raw 53", "raw 39", "39=0 and 45=1", actions="0 1 2 3 4 5 6 7 8 9 11 12"
    ),
    "video_checkers": Game("", "1", "", won=_none_of("90", "a0"), lost=_none_of("10", "20"), actions="1 6 7 8 9"),
    "video_chess": Game("", "1", "", won="6e=0 and 61=82", lost="6e=1 and 61=82", actions="0 1 2 3 4 5 6 7 8 9"),
    "video_cube": Game("", "1", "", lost="5b=0 and 5b was ff"),
    "word_zapper": Game("-1 signed 5c", "1", "4f!=0 and 5c=ff or 4f!=0 and 5e=0", repeats="4f=0"),
}

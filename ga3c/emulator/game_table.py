"""The table of games: how score, lives and end of each lie in RAM, found by playing on ale-py and watching the RAM."""

from ga3c.emulator.further_games import FURTHER_GAMES
from ga3c.emulator.game_row import Game

GAMES = {
    "alien": Game("10 f8!10 0b, 100 f8!10 09, 1000 f8!10 07, 10000 f8!10 05, 100000 f8!10 03", "low 40", "40&0f=0"),
    "amidar": Game("bcd 59, 100 bcd 5a, 10000 bcd 5b", "low 56", "56=80", actions="0 1 2 3 4 5 10 11 12 13"),
    "assault": Game("bcd 02, 100 bcd 01, 10000 bcd 00", "raw 65", "65=0", actions="0 1 2 3 4 11 12"),
    "asterix": Game("bcd 60, 100 bcd 5f, 10000 bcd 5e", "low 53", "53&0f=1 and 47=1", actions="0 2 3 4 5 6 7 8 9"),
    "asteroids": Game(
        "10 bcd 3e, 1000 bcd 3d", "high 3c", "3c&f0=0", wraps=100000, actions="0 1 2 3 4 5 6 7 10 11 12 13 14 15"
    ),
    "atlantis": Game("100 bcd 22, 10000 bcd 23, 1000000 bcd 21", "raw 71", "71=ff", actions="0 1 11 12"),
    "bank_heist": Game("bcd 5a, 100 bcd 59, 10000 bcd 58", "raw 55", "4e=1 and 55=0"),
    "battle_zone": Game("1000 high_digit 1d, 10000 digits 1e", "low 3a", "3a&0f=0"),
    "beam_rider": Game(
        "bcd 09, 100 bcd 0a, 10000 bcd 0b", "raw 05, 1", "05=ff", hold="fall and 0c!=1", actions="0 1 2 3 4 6 7 11 12"
    ),
    "berzerk": Game("bcd 5f, 100 bcd 5e, 10000 bcd 5d", "raw 5a, 1", "5a=ff"),
    "bowling": Game("bcd 21, 100 bcd 26", "", "24>10", actions="0 1 2 5 10 13"),
    "boxing": Game("to_100 12, -1 to_100 13", "", "12=c0 or 13=c0 or 10&f0=0 and 11=0"),
    "breakout": Game("bcd 4d, 100 low 4c", "raw 39", "39=0", actions="0 1 3 4"),
    "centipede": Game("bcd 76, 100 bcd 75, 10000 bcd 74", "70 6d, 1", "26&40!=0", wraps=-1),
    "chopper_command": Game("100 bcd 6e, 10000 bcd 6c", "low 64", "64&0f=0"),
    "crazy_climber": Game(
        "100 low 02, 1000 low 03, 10000 low 04, 100000 low 05", "raw 2a", "2a=0", wraps=-1, actions="0 2 3 4 5 6 7 8 9"
    ),
    "defender": Game(
        "low_digit 1c, 10 low_digit 1d, 100 low_digit 1e, 1000 low_digit 1f, 10000 low_digit 20, 100000 low_digit 21",
        "raw 42",
        "42=0",
    ),
    "demon_attack": Game(
        "bcd 05, 100 bcd 03, 10000 bcd 01",
        "raw 72, 1",
        "72=0 and 71=bd",
        zero="01=ab and 03=cd and 05=ea",
        actions="0 1 3 4 11 12",
    ),
    "double_dunk": Game("bcd 76, -1 bcd 77", "", "76>23 and 7e=e7 or 77>23 and 7e=e7"),
    "enduro": Game("-1 bcd 2b, -100 bcd 2c, 300 raw 2d, -100", "", "2f=ff", zero="2d=0", actions="0 1 3 4 5 8 9 11 12"),
    "fishing_derby": Game("bcd 3d, -1 bcd 3e", "", "3d=99 or 3e=99"),
    "freeway": Game("bcd 67", "", "16=1", wraps=-1, most=1, actions="0 2 5"),
    "frostbite": Game("bcd 4a, 100 bcd 49, 10000 bcd 48", "low 4c, 1", "71>7f and 4c&0f=0"),
    "gopher": Game("bcd 32, 100 bcd 31, 10000 bcd 30", "01 34, 02 34, 04 34", "34&07=0", actions="0 1 2 3 4 10 11 12"),
    "gravitar": Game("bcd 09, 100 bcd 08, 10000 bcd 07", "raw 04, 1", "01=1", hold="01=0"),
    "hero": Game("bcd 39, 100 bcd 38, 10000 bcd 37", "raw 33", "33=0"),
    "ice_hockey": Game("bcd 0a, -1 bcd 0b", "", "07=0 and 06=0", most=1),
    "jamesbond": Game("bcd 5c, 100 bcd 5d, 10000 bcd 5e", "low 06, 1", "0c=68 and 06&0f=0"),
    "kangaroo": Game("100 bcd 28, 10000 bcd 27", "07 2d, 1", "2d=ff"),
    "krull": Game("bcd 1e, 100 bcd 1d, 10000 bcd 1c", "07 1f, 1", "22=3 and 1f=0 and 00=80"),
    "kung_fu_master": Game(
        "bcd 1a, 100 bcd 19, 10000 bcd 18", "07 1d, 1", "1d=ff", actions="0 2 3 4 5 8 9 11 12 13 14 15 16 17"
    ),
    "montezuma_revenge": Game("bcd 15, 100 bcd 14, 10000 bcd 13", "07 3a, 1", "3a=0 and 7e=60"),
    "ms_pacman": Game("bcd 78, 100 bcd 79, 10000 bcd 7a", "07 7b, 1", "7b&0f=0 and 27=53", actions="0 2 3 4 5 6 7 8 9"),
    "name_this_game": Game("bcd 46, 100 bcd 45, 10000 bcd 44", "07 47", "47&07=0", actions="0 1 3 4 11 12"),
    "phoenix": Game("10 high 47, 100 bcd 48, 10000 bcd 49", "07 4b", "4c=80", actions="0 1 3 4 5 11 12 13"),
    "pitfall": Game("bcd 57, 100 bcd 56, 10000 bcd 55", "20 00, 80 00, 1", "00<10 and 1e>0"),
    "pong": Game("raw 0e, -1 raw 0d", "", "0d=15 or 0e=15", actions="0 1 3 4 11 12"),
    "private_eye": Game("bcd 4a, 100 bcd 49, 10000 bcd 48", "", "42>1"),
    "qbert": Game(
        "bcd 5b, 100 bcd 5a, 10000 bcd 59",
        "",
        "08=fe or 08=02 and 08 was ff",
        falls="08",
        first_lives=4,
        end_counts=False,
        actions="0 1 2 3 4 5",
    ),
    "riverraid": Game(
        "f8!b 57, 10 f8!b 55, 100 f8!b 53, 1000 f8!b 51, 10000 f8!b 4f, 100000 f8!b 4d",
        "f8!b 40, 1",
        "40=58 and 40 was 59",
        hold="40=58",
        first_lives=4,
    ),
    "road_runner": Game(
        "100 low_digit 49, 1000 low_digit 4a, 10000 low_digit 4b, 100000 low_digit 4c",
        "07 44, 1",
        "44&07=0 and 39!=0 or 44&07=0 and 3d!=0",
    ),
    "robotank": Game("raw 35, 12 raw 36", "low 28, 1", "28=0 and 34=ff"),
    "seaquest": Game("bcd 3a, 100 bcd 39, 10000 bcd 38", "raw 3b, 1", "23!=0"),
    "skiing": Game("-1 bcd 6a, -100 bcd 69, -6000 raw 68", "", "11=ff", actions="0 3 4"),
    "solaris": Game("10 bcd 5c, 1000 bcd 5d, 100000 bcd 5e", "low 59", "59=0"),
    "space_invaders": Game("bcd 68, 100 bcd 66", "raw 49", "49=0 or 18&80!=0", wraps=10000, actions="0 1 3 4 11 12"),
    "star_gunner": Game(
        "100 low_digit 03, 1000 low_digit 04, 10000 low_digit 05, 100000 low_digit 06",
        "low 07",
        "07=0",
        hold="07=6",
        first_lives=5,
    ),
    "surround": Game("bcd 77, -1 bcd 76", "1", "76=10 or 77=10 or 76=a or 77=a", actions="0 2 3 4 5"),
    "tennis": Game(
        "raw 45, -1 raw 46", "", "47=7 or 48=7 or 47=6 and 48<5 or 48=6 and 47<5", match="raw 47, -1 raw 48"
    ),
    "time_pilot": Game(
        "100 bcd 0d, 10000 bcd 0f",
        "07 0b, 1",
        "20>0",
        hold="00&0f!=2",
        first_lives=5,
        actions="0 1 2 3 4 5 10 11 12 13",
    ),
    "tutankham": Game("bcd 1c, 100 bcd 1a", "03 1e", "1e=0", actions="0 2 3 4 5 10 11 12"),
    "up_n_down": Game("bcd 02, 100 bcd 01, 10000 bcd 00", "low 06, 1", "06&0f=0 and 14=ff", actions="0 1 2 5 10 13"),
    "venture": Game("100 bcd 48, 10000 bcd 47", "07 46, 1", "4d=ff and 46=0 and 3f&80!=0"),
    "video_pinball": Game(
        "bcd 30, 100 bcd 32, 10000 bcd 34", "4, -1 07 19, 01 28", "2f&01!=0", actions="0 1 2 3 4 5 10 11 12"
    ),
    "wizard_of_wor": Game(
        "100 0f 06, 1000 f0 06, 10000 0f 08, 100000 70 08",
        "low 0d",
        "0d&0f=0 and 74=f8",
        hold="57&01!=0",
        actions="0 1 2 3 4 5 10 11 12 13",
    ),
    "yars_revenge": Game("bcd 62, 100 bcd 61, 10000 bcd 60", "high 1e", "1e<10"),
    "zaxxon": Game("100 bcd 69, 10000 bcd 68", "07 6a", "6a&07=0"),
} | FURTHER_GAMES

"""The vocabulary of the language of scenes: concepts, the words for each, and which concepts go together.

A concept is a set of synonyms, named after its first word; a category is a set of concepts. The tables write
synonyms as ``sofa/couch``, spaces inside a word as ``living_room`` and irregular forms after colons:
``mouse:mice`` (plural), ``eat:ate:eaten`` (past, participle; the participle is the past where it is left out).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Noun:
    """One word for something that can be counted."""

    singular: str
    plural: str


@dataclass(frozen=True)
class Verb:
    """One word for an action: did not ``chase``, ``chased``, was ``chased``."""

    base: str
    past: str
    participle: str


Word = Noun | Verb | str


@dataclass(frozen=True)
class Concept:
    """A meaning: its synonyms, its category (``pet``, ``cutting``, ``colour``) and that category's kind.

    Kinds are person, animal, food and thing (nouns), action (verbs), attribute, place and time (phrases).
    """

    name: str
    category: str
    kind: str
    words: tuple[Word, ...]


@dataclass(frozen=True)
class Frame:
    """Who does the actions of one category to whom, where and with what.

    ``roles`` are the usual (agent category, patient category); ``agents`` and ``patients`` are all possible concepts.
    """

    roles: tuple[tuple[str, str], ...]
    agents: tuple[str, ...]
    patients: tuple[str, ...]
    places: tuple[str, ...]
    instruments: tuple[str, ...]


NOUN_TABLE = {
    "person": {
        "child:children/kid": "boy/lad girl/lass baby/infant pupil/student",
        "relative": "mother/mum father/dad uncle aunt grandmother/grandma",
        "kitchen_worker": "cook/chef baker waiter",
        "farm_worker": "farmer gardener shepherd/herdsman:herdsmen",
        "craftsman:craftsmen/tradesman:tradesmen": "carpenter/joiner mechanic plumber builder",
        "official": "policeman:policemen/constable guard/sentry judge mayor soldier",
        "expert/specialist": "doctor/physician nurse teacher/tutor lawyer/attorney scientist/researcher",
        "artist": "singer/vocalist painter dancer actor/performer poet",
        "criminal/crook": "thief:thieves/robber burglar pirate",
    },
    "animal": {
        "pet": "dog/hound cat rabbit/bunny tortoise pony",
        "farm_animal": "cow pig/hog goat sheep:sheep donkey hen",
        "wild_animal": "fox wolf:wolves bear lion deer:deer monkey mouse:mice",
        "bird": "owl eagle duck swan goose:geese pigeon/dove",
    },
    "food": {
        "fruit": "apple pear peach plum banana",
        "vegetable": "carrot potato:potatoes onion tomato:tomatoes",
        "snack/treat": "pie pancake sandwich biscuit/cookie",
    },
    "thing": {
        "vehicle": "car/automobile truck/lorry bus/coach bicycle/bike van tractor",
        "piece_of_furniture:pieces_of_furniture": "sofa/couch chair/seat table desk cupboard/cabinet",
        "garment": "shirt coat/jacket dress/gown hat sweater/jumper scarf:scarves",
        "musical_instrument": "guitar piano violin/fiddle drum trumpet",
        "tool": "hammer axe spade/shovel rake wrench/spanner drill",
        "kitchen_tool": "knife:knives fork spoon pan/skillet",
        "cleaning_tool": "brush cloth/rag sponge mop towel",
        "piece_of_equipment:pieces_of_equipment": "rope/cord net stick/pole torch/flashlight",
        "container": "box/carton bag/sack bottle/flask bucket/pail",
        "document": "letter report contract book magazine/journal",
        "plant": "tree bush/shrub flower/blossom vine",
        "device/gadget": "phone computer camera radio telescope clock",
        "jewel/gem": "ring necklace diamond pearl",
    },
}

ATTRIBUTE_TABLE = {
    "colour": "brown black white grey golden",
    "size": "big/large small/little huge/enormous",
    "age": "old/aged young/youthful",
    "build": "tall short thin/slim strong/muscular",
    "mood": "happy/cheerful sad/unhappy angry/furious calm/relaxed nervous/anxious",
    "character": "polite/courteous rude/impolite clever/smart lazy/idle brave/courageous rich/wealthy",
    "need": "hungry/starving thirsty tired/weary",
    "state": "new clean/spotless dirty/filthy broken wet",
    "price": "cheap/inexpensive expensive/costly",
    "taste": "fresh ripe rotten sweet sour tasty/delicious",
}

# Which attributes each kind of noun takes.
TRAITS = {
    "person": "age build mood character need",
    "animal": "colour size age mood need",
    "food": "size taste",
    "thing": "colour size state price",
}

PLACE_TABLE = {
    "room": "in_the_kitchen in_the_bedroom in_the_bathroom in_the_lounge/in_the_living_room in_the_attic/in_the_loft "
    "in_the_cellar/in_the_basement",
    "farmland": "in_the_garden in_the_orchard in_the_barn in_the_greenhouse in_the_field/in_the_meadow",
    "wilderness": "in_the_forest/in_the_woods on_the_hill by_the_river/by_the_stream on_the_beach/on_the_shore "
    "by_the_lake",
    "outdoor_spot": "in_the_street/on_the_road in_the_park on_the_bridge in_the_square at_the_station at_the_market",
    "business": "in_the_shop/in_the_store in_the_restaurant/in_the_diner in_the_bakery in_the_garage/in_the_workshop "
    "in_the_factory",
    "institution": "in_the_office at_the_hospital/at_the_clinic in_the_classroom in_the_library in_the_theatre "
    "in_the_museum/in_the_gallery in_the_prison/in_the_jail",
}

TIME_TABLE = {
    "hour": "at_dawn/at_sunrise at_noon/at_midday at_dusk/at_sunset at_night at_midnight in_the_morning "
    "in_the_afternoon in_the_evening",
    "weekday": "on_monday on_wednesday on_friday on_sunday",
    "season": "in_spring in_summer in_autumn in_winter",
    "past": "yesterday last_week last_year",
    "event": "after_breakfast after_lunch before_dinner/before_supper during_the_storm during_the_party",
}

DETERMINERS = {
    1: ("a", "the"),
    2: ("two", "the two", "a couple of"),
    3: ("three", "the three"),
    4: ("four", "the four"),
    5: ("five", "the five"),
    12: ("twelve", "the twelve", "a dozen"),
}

# category of actions: (actions, usual roles as agent>patient, usual places, possible instruments)
FRAME_TABLE = {
    "pursuing": (
        "chase/pursue follow/trail catch:caught/capture",
        "official>criminal wild_animal>farm_animal pet>bird child>pet official>wild_animal",
        "street forest field park hill beach bridge",
        "rope net torch",
    ),
    "attacking": (
        "attack/assault scare/frighten push/shove kick hit:hit/strike:struck",
        "wild_animal>farm_animal criminal>expert farm_animal>child bird>pet criminal>artist",
        "street forest field station barn",
        "stick rope hammer",
    ),
    "guarding": (
        "help/assist protect/defend rescue/save",
        "official>child relative>child farm_worker>farm_animal pet>relative expert>wild_animal",
        "river hill beach bridge station",
        "rope stick torch",
    ),
    "nursing": (
        "feed:fed comfort/console bathe",
        "expert>child relative>child farm_worker>farm_animal child>bird relative>pet",
        "hospital barn lounge garden bathroom",
        "bottle spoon towel",
    ),
    "meeting": (
        "greet/welcome thank praise blame/accuse insult hug:hugged/embrace",
        "relative>child official>artist expert>official artist>relative official>criminal kitchen_worker>expert",
        "office classroom theatre hospital prison square restaurant",
        "",
    ),
    "perceiving": (
        "watch/observe notice/spot:spotted find:found/discover ignore",
        "expert>bird official>criminal child>wild_animal wild_animal>farm_animal bird>wild_animal pet>child",
        "forest hill lake park museum attic",
        "camera telescope torch",
    ),
    "cutting": (
        "cut:cut/slice chop:chopped/dice peel",
        "kitchen_worker>vegetable relative>fruit kitchen_worker>fruit relative>vegetable",
        "kitchen restaurant",
        "knife",
    ),
    "heating": (
        "fry:fried grill/roast burn",
        "kitchen_worker>snack relative>snack kitchen_worker>vegetable",
        "kitchen restaurant bakery",
        "pan fork spoon",
    ),
    "eating": (
        "eat:ate:eaten/devour taste/sample swallow",
        "child>fruit child>snack farm_animal>vegetable pet>snack bird>fruit wild_animal>fruit",
        "kitchen restaurant orchard field garden",
        "fork spoon",
    ),
    "repairing": (
        "repair/fix/mend inspect/examine build:built/construct paint",
        "craftsman>vehicle craftsman>device craftsman>piece_of_furniture craftsman>tool official>piece_of_equipment",
        "garage factory cellar",
        "hammer wrench drill brush",
    ),
    "damaging": (
        "smash/shatter ruin/wreck scratch",
        "criminal>vehicle child>device pet>piece_of_furniture wild_animal>container",
        "lounge street bedroom barn",
        "hammer axe stick",
    ),
    "trading": (
        "buy:bought/purchase sell:sold order",
        "relative>garment artist>musical_instrument farm_worker>tool relative>jewel relative>cleaning_tool "
        "expert>device official>piece_of_equipment craftsman>tool",
        "shop market square",
        "",
    ),
    "taking": (
        "steal:stole:stolen hide:hid:hidden/conceal grab:grabbed",
        "criminal>jewel criminal>document wild_animal>snack bird>jewel criminal>piece_of_equipment criminal>tool",
        "museum shop attic station",
        "rope stick",
    ),
    "moving": (
        "carry/transport drag:dragged/haul lift/raise drop:dropped",
        "craftsman>piece_of_furniture farm_worker>container farm_animal>container kitchen_worker>container "
        "official>piece_of_equipment craftsman>tool",
        "barn factory street market",
        "rope",
    ),
    "cleaning": (
        "wash wipe polish scrub:scrubbed",
        "kitchen_worker>kitchen_tool relative>piece_of_furniture relative>garment kitchen_worker>cleaning_tool "
        "craftsman>cleaning_tool",
        "kitchen bathroom bedroom restaurant",
        "sponge cloth brush towel mop",
    ),
    "driving": (
        "drive:drove:driven/steer stop:stopped overtake:overtook:overtaken",
        "official>vehicle criminal>vehicle farm_worker>vehicle",
        "street bridge field station",
        "",
    ),
    "performing": (
        "play tune",
        "artist>musical_instrument child>musical_instrument expert>musical_instrument",
        "theatre square classroom lounge",
        "",
    ),
    "reading": (
        "read:read/study write:wrote:written translate",
        "expert>document official>document child>document artist>document",
        "library office classroom",
        "",
    ),
    "growing": (
        "water trim:trimmed/prune pick/pluck grow:grew:grown/cultivate",
        "farm_worker>plant farm_worker>fruit farm_worker>vegetable relative>plant",
        "garden orchard greenhouse field",
        "spade rake bucket",
    ),
    "dressing": (
        "wear:wore:worn sew:sewed:sewn/stitch fold",
        "relative>garment artist>garment child>garment",
        "bedroom bathroom theatre",
        "",
    ),
}


def _noun(singular: str, plural: str = "") -> Noun:
    if singular.endswith(("s", "x", "ch", "sh")):
        return Noun(singular, plural or f"{singular}es")
    if singular.endswith("y") and singular[-2] not in "aeiou":
        return Noun(singular, plural or f"{singular[:-1]}ies")
    return Noun(singular, plural or f"{singular}s")


def _verb(base: str, past: str = "", participle: str = "") -> Verb:
    if base.endswith("e"):
        regular = f"{base}d"
    elif base.endswith("y") and base[-2] not in "aeiou":
        regular = f"{base[:-1]}ied"
    else:
        regular = f"{base}ed"
    return Verb(base, past or regular, participle or past or regular)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.replace("_", " ") for name in text.split())


def _concepts(entries: str, category: str, kind: str, word: Callable[..., Word]) -> Iterator[Concept]:
    for entry in _names(entries):
        spellings = [synonym.split(":") for synonym in entry.split("/")]
        yield Concept(spellings[0][0], category, kind, tuple(word(*spelling) for spelling in spellings))


def _all_concepts() -> Iterator[Concept]:
    for kind, table in NOUN_TABLE.items():
        for hypernym, members in table.items():
            category = re.split("[:/]", hypernym)[0].replace("_", " ")
            yield from _concepts(f"{hypernym} {members}", category, kind, _noun)
    for category, (actions, *_) in FRAME_TABLE.items():
        yield from _concepts(actions, category, "action", _verb)
    for kind, table in (("attribute", ATTRIBUTE_TABLE), ("place", PLACE_TABLE), ("time", TIME_TABLE)):
        for category, members in table.items():
            yield from _concepts(members, category, kind, str)


@cache
def members(category: str) -> tuple[str, ...]:
    """The concepts of a category; among those of a category of nouns is its own noun (``pet``)."""
    return tuple(concept.name for concept in CONCEPTS.values() if concept.category == category)


@cache
def of_kind(*kinds: str) -> tuple[str, ...]:
    """The concepts of some kinds, such as ``place`` or ``person``."""
    return tuple(concept.name for concept in CONCEPTS.values() if concept.kind in kinds)


def _frame(roles: str, places: str, instruments: str) -> Frame:
    pairs = tuple(tuple(_names(pair.replace(">", " "))) for pair in roles.split())
    agent_categories, patient_categories = zip(*pairs, strict=True)
    animate = [CONCEPTS[category].kind for category in patient_categories if CONCEPTS[category].kind in ANIMATE]
    return Frame(
        roles=pairs,
        agents=of_kind(*(CONCEPTS[category].kind for category in agent_categories)),
        patients=tuple(
            name
            for name, concept in CONCEPTS.items()
            if concept.category in patient_categories or concept.kind in animate
        ),
        places=tuple(place for place in of_kind("place") if place.split()[-1] in places.split()),
        instruments=_names(instruments),
    )


ANIMATE = ("person", "animal")
CONCEPTS: dict[str, Concept] = {concept.name: concept for concept in _all_concepts()}
FRAMES: dict[str, Frame] = {category: _frame(*columns) for category, (_, *columns) in FRAME_TABLE.items()}

"""The synthetic language of scenes (docs/scenes.md), for the offline miniature."""

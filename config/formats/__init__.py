"""How each language writes dates, where Django's own choice is not ours."""

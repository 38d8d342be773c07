DATE_FORMAT = "j. M Y"
DATETIME_FORMAT = "j. M Y, H:i"
# A browser's date fields use the first form in a request, whatever they show.
DATE_INPUT_FORMATS = ["%Y-%m-%d", "%d.%m.%Y"]
DATETIME_INPUT_FORMATS = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%d.%m.%Y %H:%M"]

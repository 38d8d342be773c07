"""Form fields of a struct: their types, bounds and defaults are the struct's, their words the form's."""

from collections.abc import Sequence
from typing import Any

import msgspec
from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from msgspec import inspect


def struct_field(kind: type[msgspec.Struct], name: str, **words: Any) -> forms.Field:
    """The form field of a field of `kind`; `words` has its label and other arguments, such as `choices`."""
    [field] = [one for one in msgspec.structs.fields(kind) if one.name == name]
    default = None if field.default is msgspec.NODEFAULT else field.default
    named: dict[str, Any] = {"required": field.required or default not in (None, ""), "initial": default} | words
    match _type_alone(inspect.type_info(field.type)):
        case inspect.ListType(item_type=item):
            coerce = int if isinstance(item, inspect.IntType) else str
            return forms.TypedMultipleChoiceField(coerce=coerce, widget=forms.CheckboxSelectMultiple, **named)
        case inspect.IntType(ge=least, le=most):
            return forms.IntegerField(**{"min_value": least, "max_value": most} | named)
        case inspect.FloatType(ge=least, le=most):
            return forms.FloatField(**{"min_value": least, "max_value": most} | named)
        case inspect.DateTimeType():
            return forms.DateField(widget=forms.DateInput({"type": "date"}), **named)
        case inspect.StrType(max_length=longest) if "choices" not in named:
            return forms.CharField(**{"max_length": longest} | named)
    return forms.ChoiceField(**named)


def limit_number(field: forms.IntegerField, kind: type[msgspec.Struct], place: Sequence[str]) -> None:
    """Give a form field the bounds of the number at a path in `kind`, such as ["mix", "control"]."""
    declared = inspect.type_info(kind)
    for name in place:
        [declared] = [_type_alone(one.type) for one in declared.fields if one.name == name]  # type: ignore[attr-defined]
    least, most = declared.ge, declared.le  # type: ignore[attr-defined]
    if least is not None:
        field.min_value = least
        field.validators.append(MinValueValidator(least))
    if most is not None:
        field.max_value = most
        field.validators.append(MaxValueValidator(most))
    field.widget.attrs.update(field.widget_attrs(field.widget))


def _type_alone(declared: inspect.Type) -> inspect.Type:
    """The type without its description; the first type if there are several, such as a number or null."""
    match declared:
        case inspect.Metadata(type=inner):
            return _type_alone(inner)
        case inspect.UnionType(types=types):
            return _type_alone(types[0])
    return declared

"""The label scheme as the workbench is told it; annotation.models.scheme says what it means."""

from typing import get_args

from rest_framework import serializers

from annotation.models.scheme import Colour


class LookSerializer(serializers.Serializer):
    name = serializers.CharField(help_text="Empty: the workbench's own word.")
    help = serializers.CharField()
    colour = serializers.ChoiceField(get_args(Colour), allow_null=True)


class AnswerLooksSerializer(serializers.Serializer):
    good = LookSerializer()
    neutral = LookSerializer()
    bad = LookSerializer()
    unsure = LookSerializer()


class TermSerializer(serializers.Serializer):
    name = serializers.CharField()
    help = serializers.CharField()
    group = serializers.CharField()


class SchemeSerializer(serializers.Serializer):
    stop_at_first_error = serializers.BooleanField()
    rate_alternatives = serializers.BooleanField()
    ask_own_step = serializers.BooleanField()
    choose_path = serializers.BooleanField()
    ask_progress = serializers.BooleanField()
    critique = serializers.ChoiceField(["none", "written", "given"])
    offer_neutral = serializers.BooleanField()
    offer_unsure = serializers.BooleanField()
    offer_accepting = serializers.BooleanField()
    answers = AnswerLooksSerializer()
    keys = serializers.DictField(child=serializers.CharField(), help_text="Keys that differ from the workbench's own.")
    error_types = TermSerializer(many=True)
    policy_clauses = TermSerializer(many=True)
    consistency = serializers.BooleanField()
    redundancy = serializers.BooleanField()
    recovery = serializers.BooleanField()
    reference = serializers.ChoiceField(["shown", "on_request", "hidden"])

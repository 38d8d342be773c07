"""Texts that workers keep become JSON, so that they can be said in the reader's language; those there are stay texts."""

from django.db import migrations

from annotation.models.said_field import SaidField

KEPT = {
    "AnswerCheck": ["error"],
    "ImportJob": ["error"],
    "ImportRejection": ["reason"],
    "ModelJob": ["said", "error"],
    "PoolScoring": ["error"],
    "RunPoint": ["message"],
    "RunStage": ["figure"],
    "SampledProblem": ["error"],
    "SamplingRun": ["note", "error"],
    "SimulationRun": ["message", "error"],
    "TrainingRun": ["reason", "error"],
}
HELP = {("SamplingRun", "note"): "How it ended, where there is more to say than its state."}


def kept(model: str, column: str) -> migrations.SeparateDatabaseAndState:
    """The change of one column."""
    change = f'ALTER TABLE annotation_{model.lower()} ALTER COLUMN "{column}" TYPE'
    field = SaidField(help_text=HELP.get((model, column), ""))
    return migrations.SeparateDatabaseAndState(
        [
            migrations.RunSQL(
                f'{change} jsonb USING to_jsonb("{column}"::text)', f"{change} text USING {column} #>> '{{}}'"
            )
        ],
        [migrations.AlterField(model, column, field)],
    )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0031_first_password")]
    operations = [kept(model, column) for model, columns in KEPT.items() for column in columns]

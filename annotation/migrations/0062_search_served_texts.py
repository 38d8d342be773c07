from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import migrations, models

# A vector holds at most 1 MB, and words are at most as long as the text: 100,000 characters are always below that.
CREATE = """
CREATE FUNCTION served_words(served jsonb) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT to_tsvector('simple', left(concat_ws(' ', served->>0, string_agg(step->>0, ' ' ORDER BY place)), 100000))
    FROM jsonb_array_elements(served->1) WITH ORDINALITY AS steps (step, place)
$$
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0061_confirmed_models"),
    ]

    operations = [
        migrations.RunSQL(CREATE, "DROP FUNCTION served_words(jsonb)"),
        migrations.AddIndex(
            model_name="servedscore",
            index=GinIndex(
                models.Func("text", function="served_words", output_field=SearchVectorField()),
                name="served_score_by_words",
            ),
        ),
    ]

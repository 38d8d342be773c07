from django.db import migrations, models

LANES = [
    ("screening", "Screening"),
    ("gold", "Gold"),
    ("holdout", "Holdout"),
    ("calibration", "Calibration"),
    ("control", "Control"),
    ("acquisition", "Acquisition"),
    ("overlap", "Overlap"),
    ("pinned", "Pinned"),
]


class Migration(migrations.Migration):
    dependencies = [("annotation", "0019_lean_imports")]

    operations = [
        migrations.AlterField(
            model_name="annotation",
            name="lane",
            field=models.CharField(blank=True, choices=LANES, max_length=12),
        ),
        migrations.AlterField(
            model_name="queueitem",
            name="lane",
            field=models.CharField(choices=LANES, max_length=12),
        ),
    ]

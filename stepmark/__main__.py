"""The command `stepmark`, which reads its settings (`.env`) and stores its data in the folder where it is started."""

import os
import sys
from pathlib import Path

APP = Path(__file__).parent / "app"


def main() -> int:
    """Run a command of `launch`. Only this process and its children can import the packages in `app`."""
    os.environ.setdefault("STEPMARK_HOME", os.getcwd())
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(APP), os.environ.get("PYTHONPATH")]))
    sys.path.insert(0, str(APP))
    from launch.__main__ import main as launch

    return launch(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

"""`simulate` refuses options that name nothing to run, in words of the command line."""

import pytest

from prm.__main__ import main


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seeds", "5-3"], "'3' is not a whole number of at least 5"),
        (["--noise", "some"], "'some' is not a number of at least zero"),
    ],
)
def test_an_option_without_values_is_refused(options, message, tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["simulate", "--out", str(tmp_path), *options])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err

"""For all tests: the shells and kernels that they make keep their history elsewhere, so the reader's own stays as it was."""
import pytest


@pytest.fixture(scope="session", autouse=True)
def own_profile(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        yield

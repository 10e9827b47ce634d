"""Which proxy a download goes by."""

import pytest

from core.services.downloads import choose_proxy

URL = "https://models.example/a.gguf"
ENVIRONMENT = {"https_proxy": "http://corp:3128", "HTTP_PROXY": "http://plain:1"}


@pytest.mark.parametrize(
    ("url", "setting", "environment", "system", "proxy"),
    [
        (URL, "", {}, {}, None),
        (URL, "", ENVIRONMENT, {}, "http://corp:3128"),
        (URL, "", {"ALL_PROXY": "corp:80"}, {}, "http://corp:80"),
        (URL, "", {}, {"https": "http://system:8080"}, "http://system:8080"),
        (URL, "none", ENVIRONMENT, {"https": "http://system:8080"}, None),
        (URL, "http://mine:1", ENVIRONMENT, {}, "http://mine:1"),
        (URL, "", {**ENVIRONMENT, "NO_PROXY": "a.b, .example"}, {}, None),
        (URL, "", {**ENVIRONMENT, "no_proxy": "models.example:443"}, {}, None),
        (URL, "", {**ENVIRONMENT, "no_proxy": "*"}, {}, None),
        (URL, "", {**ENVIRONMENT, "no_proxy": "other.example,xample"}, {}, "http://corp:3128"),
        ("http://127.0.0.1:9/x", "", ENVIRONMENT, {}, None),
        ("http://localhost/x", "http://mine:1", {}, {}, None),
    ],
)
def test_the_setting_goes_first_then_the_environment_then_the_system(url, setting, environment, system, proxy):
    assert choose_proxy(url, setting, environment, system) == proxy

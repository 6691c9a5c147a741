"""Networks of tests."""

import accord


def plain(*, flows=2, rate="10 Mbps", controller="vegas", limit="unlimited", duration="60 s"):
    """A dumbbell that draws nothing: all flows start at once, with one round-trip time."""
    own = [] if isinstance(controller, str) else [controller]
    name = controller if isinstance(controller, str) else controller.family_name()
    text = f"""
        duration = "{duration}"
        [topology.dumbbell]
        rate = "{rate}"
        delay = "20 ms"
        queue = {{ discipline = "droptail", limit = "{limit}" }}
        [flow.all]
        count = {flows}
        from = "left"
        to = "right"
        controller = "{name}"
    """
    return accord.parse(text, "dumbbell.toml", own=own)

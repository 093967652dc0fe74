"""By SLO class: interactive requests to the calmest instance, batch where most is cached. Also their order."""
import math

# EVOLVE-BLOCK-START
URGENT = {"critical", "realtime", "standard", "interactive"}


def route(req, i):
    busy = i.queue + i.running + i.in_flight
    if req.slo_class in URGENT or req.slo_class is None:
        return 1.0 * i.prefix_hit - 0.1 * busy
    return 3.0 * i.prefix_hit - 0.1 * busy


def priority(req, i) -> float:
    urgency: float = 2.0 if req.slo_class in URGENT else 1.0
    return urgency ** 2 - 0.1 * math.log(1 + req.input)
# EVOLVE-BLOCK-END

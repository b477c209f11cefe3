"""Campaigns: seeded search for calls that crash, hang, compute wrong values, write beside an array,
leave memory over, or raise what is not gpubcast's.

A campaign is a module with a function ``run(log, rng)``, a row in ``runner.CAMPAIGNS``. A seed is
one process (``child.py``) which does everything that the seed draws and tells the runner through a
file that outlives it (``log.py``). Processes within that process, where a campaign starts them, are
``worlds.py``'s: forked before gpubcast has been called, so that each makes its first call.

``make campaign MINUTES=60`` draws new seeds; ``test_campaigns.py`` has the fixed ones.
"""

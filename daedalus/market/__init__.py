"""A market to play, as ``daedalus.market(...)``; and the modules that simulate it.

    daedalus.market(population="stage3", *overrides, market="strategic", reward="composite")

It returns a ``daedalus.Market``:

    market = daedalus.market("stage4", "market.episode_length=20")
    market.reset(seed=0)
    step = market.step(daedalus.Mechanism(auction_type="vcg", reserve_price=0.2))
    print(step.reward, step.done)

- population: the bidders, by name as in population=NAME, or as settings.
- overrides: changes as on the command line, such as "market.episode_length=20".
- market: the name of a file in conf/market/ ("strategic", "classic", ...), or settings.
- reward: the name of a file in conf/reward/ ("composite", "revenue", ...), or a stack.

A wrong name or change raises a ConfigError, which says what to write instead. help(daedalus.Market)
tells what a market can do, and help(daedalus.Mechanism) what its fields mean.
"""

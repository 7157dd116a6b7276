"""Language models as bidders: their questions, their answers, and the player that bids so."""

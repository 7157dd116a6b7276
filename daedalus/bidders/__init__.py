"""Language models as bidders: what they are asked, what they answer, and the player that bids so."""

"""From tokens to span scores: Thinc layers and the architectures made of them."""

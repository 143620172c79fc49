"""The parts that charts share: curves, channels, thinned points, layers and axes, words."""
